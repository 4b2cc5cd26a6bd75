// A page that was opened from a folder may start no worker. Then the search runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.addEventListener("load", () => this.start(frame.contentWindow, String(url)), { once: true })
      document.documentElement.append(frame)
    }

    start(inside, url) {
      inside.importScripts = (...urls) => Promise.all(urls.map(each => this.load(inside, new URL(each, url))))
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.load(inside, url).then(() => {
        this.inside = inside
        this.waiting.splice(0).forEach(data => this.postMessage(data))
      })
    }

    load(inside, url) {
      return new Promise((loaded, failed) => {
        const script = inside.document.createElement("script")
        script.src = String(url)
        script.onload = loaded
        script.onerror = failed
        inside.document.head.append(script)
      })
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new MessageEvent("message", { data }))
      else this.waiting.push(data)
    }
  }
}
