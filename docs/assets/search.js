// The search takes a word that begins with a dash for one that must not be there. Here it is an option: `--fix`.
// A block, since another script of the page has variables of these names.
{
  const field = document.querySelector("[data-md-component=search-query]")
  const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")
  if (field)
    Object.defineProperty(field, "value", {
      get() { return value.get.call(this).replace(/(^|\s)-+(?=\w)/g, "$1") },
      set(text) { value.set.call(this, text) },
    })
}
