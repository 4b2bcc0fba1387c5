"use strict"
// Description and listing side by side. Lines that belong together have one colour, and one marks the others.

const Code = (() => {
  const { make } = Dom

  /** The colour of each line of the description: neighbours are far apart. @param {number} line */
  const hue = line => Math.round(line * 137.508) % 360

  /**
   * Lines among which the arrow keys go; the one that they are at, or the pointer, marks what belongs to it.
   * @param {string} label
   * @param {{ line: number | null, cells: unknown[], said?: string, path?: boolean, at?: number }[]} rows
   */
  function lines(label, rows) {
    const options = rows.map((row, number) => make("div", {
      role: "option", id: `${label.replace(/\W+/g, "-")}-${number}`, "aria-selected": "false",
      class: row.path ? "atlas-line path" : "atlas-line", "data-line": row.line, "data-at": row.at,
      style: row.line === null ? null : `--hue: ${hue(row.line)}`, "aria-label": row.said,
    }, row.cells))
    let active = -1
    /** @param {number} to */
    const select = to => {
      options[active]?.setAttribute("aria-selected", "false")
      active = to
      options[active].setAttribute("aria-selected", "true")
      box.setAttribute("aria-activedescendant", options[active].id)
      reveal(options[active], box)
      mark(options[active])
      for (const other of document.querySelectorAll(".atlas-lines")) {
        const same = other === box ? null : other.querySelector(".same")
        if (same) reveal(same, other)
      }
    }
    const box = make("div", {
      role: "listbox", tabindex: 0, "aria-label": label, class: "atlas-lines",
      keydown: (/** @type {KeyboardEvent} */ event) => {
        const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: options.length - 1 }[event.key]
        if (to === undefined || !options.length) return
        event.preventDefault()
        select(Math.max(0, Math.min(options.length - 1, to)))
      },
      click: (/** @type {MouseEvent} */ event) => {
        const at = options.findIndex(option => option.contains(/** @type {Node} */ (event.target)))
        if (at >= 0) select(at)
      },
      mouseover: (/** @type {MouseEvent} */ event) => mark(/** @type {Element} */ (event.target).closest(".atlas-line")),
      mouseleave: () => mark(options[active] ?? null),
      focusout: () => mark(null),
      focusin: () => active >= 0 && mark(options[active]),
    }, options)
    return box
  }

  /** Scrolls a box, and nothing but it, until a line of it is seen. @param {Element} line @param {Element} box */
  function reveal(line, box) {
    const [inner, outer] = [line.getBoundingClientRect(), box.getBoundingClientRect()]
    if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top
    if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom
  }

  /**
   * Marks all that belongs to the same line of the description, and the instruction itself in the dependency picture.
   * @param {Element | null} element
   */
  function mark(element) {
    const line = element?.getAttribute("data-line")
    const at = element?.getAttribute("data-at")
    for (const each of document.querySelectorAll("#atlas [data-line], #atlas [data-at]")) {
      each.classList.toggle("same", line != null && each.getAttribute("data-line") === line)
      each.classList.toggle("this", at != null && each.getAttribute("data-at") === at)
    }
  }

  /** @param {Content} content @param {Kernel} kernel */
  function description(content, kernel) {
    const { file, numbers, lines: texts } = content.description
    const used = new Set(kernel.listing.map(each => each.line))
    return make("section", { class: "atlas-column" },
      make("h3", {}, "Description ", make("small", {}, file)),
      lines("Description", texts.map((text, at) => ({
        line: used.has(at) ? at : null,
        said: text.trim() ? undefined : "empty line",
        cells: [make("span", { class: "number", "aria-hidden": "true" }, numbers[at] ?? ""), make("code", {}, text)],
      }))))
  }

  /** @param {Kernel} kernel @param {Set<number>} path */
  function listing(kernel, path) {
    let address = 0
    return make("section", { class: "atlas-column" },
      make("h3", {}, "Listing ", path.size ? make("small", { class: "atlas-key" }, `critical path: ${path.size} instructions`) : null),
      lines("Listing", kernel.listing.map((each, at) => {
        const here = address.toString(16)
        address += each.bytes.length / 2
        return {
          line: each.line, at, path: path.has(at),
          said: `${each.text}${path.has(at) ? ", on the critical path" : ""}`,
          cells: [make("span", { class: "number" }, each.at ?? here), make("code", {}, ...words(each.text)), make("span", { class: "bytes" }, each.bytes)],
        }
      })))
  }

  /** An instruction with its mnemonic apart. @param {string} text */
  function words(text) {
    const end = text.search(/\s|$/)
    return [make("b", {}, text.slice(0, end)), text.slice(end)]
  }

  /** @param {Compiled[]} compilers */
  function compilers(compilers) {
    const shown = make("div", {})
    /** @param {string} value */
    const show = value => {
      const { counts, listing } = compilers[Number(value)]
      shown.replaceChildren(
        make("p", { class: "atlas-says" }, Facts.counted(counts)),
        lines("Compiler's code", listing.map(text => ({ line: null, cells: [make("code", {}, ...words(text.trim()))] }))))
    }
    show("0")
    return make("section", { class: "atlas-column" }, make("h3", {}, "Compilers"),
      Dom.choices("compiler", compilers.map((_, at) => String(at)), "0", show, at => {
        const { compiler, options } = compilers[Number(at)]
        return `${compiler} ${options}`
      }), shown)
  }

  return { description, listing, compilers, mark, lines, hue }
})()
