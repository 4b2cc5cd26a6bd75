// Search over window.entries (search.js): every word must occur; names that begin with the query come first.
"use strict";
const input = document.querySelector(".search input");
const list = document.querySelector(".search ol");
let chosen = 0;

function score(entry, words) {
  const [, name, title, , more] = entry.map((part) => part.toLowerCase());
  let total = 0;
  for (const word of words) {
    if (name === word) total += 200;
    else if (name.startsWith(word)) total += 100;
    else if (name.includes(word)) total += 40;
    else if (title.includes(word)) total += 20;
    else if (more.includes(word)) total += 5;
    else return 0;
  }
  return total + { rule: 4, construct: 3, section: 2, ledger: 1 }[entry[0]] || total;
}

function found(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const scored = window.entries.map((entry) => [score(entry, words), entry]);
  return scored.filter(([s]) => s > 0).sort((a, b) => b[0] - a[0]).slice(0, 14).map(([, e]) => e);
}

function show() {
  const entries = found(input.value);
  list.replaceChildren(...entries.map(([kind, name, title, address], at) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const strong = document.createElement("b");
    const rest = document.createElement("span");
    link.href = address;
    strong.textContent = name;
    rest.textContent = title;
    link.dataset.kind = kind;
    link.append(strong, " ", rest);
    item.append(link);
    item.className = at === chosen ? "chosen" : "";
    return item;
  }));
  list.hidden = !entries.length;
}

input.addEventListener("input", () => { chosen = 0; show(); });
input.addEventListener("keydown", (event) => {
  const count = list.children.length;
  if (event.key === "Escape") { input.value = ""; show(); input.blur(); }
  else if (event.key === "ArrowDown" && count) { chosen = (chosen + 1) % count; show(); event.preventDefault(); }
  else if (event.key === "ArrowUp" && count) { chosen = (chosen + count - 1) % count; show(); event.preventDefault(); }
  else if (event.key === "Enter" && count) { list.children[chosen].querySelector("a").click(); }
});
list.addEventListener("click", () => { input.value = ""; show(); });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) { input.focus(); event.preventDefault(); }
});
