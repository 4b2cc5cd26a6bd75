// A bundle is a folder of files in one gzipped file: the length of its table as four bytes, the table (JSON: the size of
// each file), and the files one behind the other.

export async function unpacked(address, type = "application/octet-stream") {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  const plain = response.body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain, { headers: { "Content-Type": type } });
}

export const read = async (address) => new Uint8Array(await (await unpacked(address)).arrayBuffer());

export function* files(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const table = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  let at = 4 + size;
  for (const [path, length] of Object.entries(table)) {
    yield [path, bytes.subarray(at, at + length)];
    at += length;
  }
}

export function install(fs, folder, bytes) {
  const made = new Set();
  for (const [path, content] of files(bytes)) {
    const parent = `${folder}/${path}`.replace(/\/[^/]*$/, "");
    if (!made.has(parent)) {
      fs.mkdirTree(parent);
      made.add(parent);
    }
    fs.writeFile(`${folder}/${path}`, content, { canOwn: true });
  }
}
