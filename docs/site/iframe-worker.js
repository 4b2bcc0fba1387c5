// Browsers give pages from disk no workers. This one runs the script in a hidden frame, so that search works there too.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      this.ready = new Promise(resolve => frame.addEventListener("load", () => resolve(frame.contentWindow)))
        .then(inside => {
          inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
          inside.importScripts = (...urls) => Promise.all(urls.map(each => load(inside, each)))
          if (window.__index) inside.__index = window.__index
          return load(inside, url).then(() => inside)
        })
      document.body.append(frame)
    }

    postMessage(data) {
      this.ready.then(inside => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }

    set onmessage(listener) {
      this.addEventListener("message", listener)
    }
  }

  const load = (inside, url) =>
    new Promise((resolve, reject) => {
      const script = inside.document.createElement("script")
      script.src = url
      script.onload = resolve
      script.onerror = reject
      inside.document.head.append(script)
    })
}
