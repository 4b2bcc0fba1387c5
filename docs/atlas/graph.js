"use strict"
// The dependency picture: each instruction under those whose results it reads, layer by layer.

const Graph = (() => {
  const { make, draw } = Dom
  const [HEIGHT, GAP, BETWEEN, LETTER] = [22, 8, 26, 6.7]

  /** How many steps each instruction comes after those that read nothing of others. @param {Instruction[]} listing */
  function depths(listing) {
    /** @type {number[]} */
    const depth = []
    listing.forEach(({ reads }, at) => {
      depth[at] = Math.max(0, ...reads.filter(from => from < at).map(from => depth[from] + 1))
    })
    return depth
  }

  /**
   * The place of each instruction: layers from top to bottom, within a layer near what it reads.
   * @param {Instruction[]} listing
   * @param {number} width
   */
  function places(listing, width) {
    const depth = depths(listing)
    /** @type {number[][]} */
    const layers = []
    depth.forEach((layer, at) => (layers[layer] ??= []).push(at))
    const across = Math.max(...layers.map(layer => layer.length)) * (width + GAP)
    /** @type {{ x: number, y: number }[]} */
    const place = []
    layers.forEach((layer, row) => {
      /** @param {number} at */
      const wish = at => {
        const from = listing[at].reads.filter(each => each < at)
        return from.length ? from.reduce((sum, each) => sum + place[each].x, 0) / from.length : 0
      }
      if (row) layer.sort((a, b) => wish(a) - wish(b) || a - b)
      layer.forEach((at, column) => {
        place[at] = { x: (column + 0.5) * across / layer.length, y: row * (HEIGHT + BETWEEN) + HEIGHT / 2 + GAP }
      })
    })
    return { place, across, down: layers.length * (HEIGHT + BETWEEN) - BETWEEN + 2 * GAP, layers: layers.length }
  }

  /**
   * The picture of a kernel, in a box that scrolls by itself.
   * @param {Kernel} kernel
   * @param {Set<number>} path the critical one
   */
  function picture(kernel, path) {
    const { listing } = kernel
    const width = Math.max(...listing.map(each => Math.min(each.text.length, 34))) * LETTER + 14
    const { place, across, down, layers } = places(listing, width)
    const inOrder = [...path].sort((a, b) => a - b)
    const next = new Map(inOrder.map((at, place) => [at, inOrder[place + 1]]))
    const edges = listing.flatMap(({ reads }, at) => reads.map(from => {
      const [a, b] = [place[from], place[at]]
      const critical = next.get(from) === at
      const [top, bottom] = [a.y + HEIGHT / 2, b.y - HEIGHT / 2]
      const middle = (top + bottom) / 2
      return draw("path", {
        class: `edge${critical ? " path" : ""}${from >= at ? " back" : ""}`,
        d: `M${a.x} ${top}C${a.x} ${middle} ${b.x} ${middle} ${b.x} ${bottom}`,
      })
    }))
    const nodes = listing.map(({ text, line }, at) => {
      const { x, y } = place[at]
      return draw("g", {
        class: `node${path.has(at) ? " path" : ""}`, "data-at": at, "data-line": line, style: line === null ? null : `--hue: ${Code.hue(line)}`,
        mouseenter: (/** @type {Event} */ event) => Code.mark(/** @type {Element} */ (event.currentTarget)), mouseleave: () => Code.mark(null),
      },
        draw("title", {}, text),
        draw("rect", { x: x - width / 2, y: y - HEIGHT / 2, width, height: HEIGHT, rx: 3 }),
        draw("text", { x, y: y + 4, "text-anchor": "middle" }, text.length > 34 ? `${text.slice(0, 33)}…` : text))
    })
    return make("div", { class: "atlas-wide atlas-graph", tabindex: 0, role: "region", "aria-label": "Dependency picture" },
      draw("svg", {
        viewBox: `0 0 ${across} ${down}`, width: across, height: down, role: "img",
        "aria-label": `${listing.length} instructions in ${layers} layers, each below those whose results it reads`,
      }, edges, nodes))
  }

  return { picture }
})()
