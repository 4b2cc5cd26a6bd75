// What a link to the playground says, in the part of the address that no server sees.
//
// #pane=check&code=…&after=…&goal=…: texts are deflated, then written in the alphabet of base64 for addresses.

const TEXTS = ["code", "after"];
const WORDS = ["pane", "goal", "assume", "entry", "inputs", "line"];

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function pack(text) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function unpack(packed) {
  const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = await through(new DecompressionStream("deflate-raw"), Uint8Array.from(letters, (c) => c.charCodeAt(0)));
  return new TextDecoder().decode(bytes);
}

export async function write(state) {
  const parts = [];
  for (const name of WORDS) if (state[name]) parts.push(`${name}=${encodeURIComponent(state[name])}`);
  for (const name of TEXTS) if (state[name]) parts.push(`${name}=${await pack(state[name])}`);
  return `#${parts.join("&")}`;
}

// null where a link is damaged: half a program would look like one.
export async function read(fragment) {
  const state = {};
  for (const part of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
    const at = part.indexOf("=");
    const name = part.slice(0, at);
    const value = part.slice(at + 1);
    try {
      if (WORDS.includes(name)) state[name] = decodeURIComponent(value);
      else if (TEXTS.includes(name)) state[name] = await unpack(value);
      else if (name === "example") state.example = decodeURIComponent(value);
    } catch {
      return null;
    }
  }
  return state;
}
