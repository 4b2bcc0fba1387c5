"use strict"
// Figures: counts and bytes, cycles by processor, the proof, and all kernels of a routine beside each other.

const Facts = (() => {
  const { make } = Dom
  const LESS = ["instructions", "bytes", "memory_operands"] // said first and last

  const PARTS = { call: "a call", round: "a round of the loop", longest: "on the longest path" }

  /** A kernel's counts in words, those that are not zero. @param {Record<string, number>} counts */
  const counted = counts => [
    `${counts.instructions} ${counts.instructions === 1 ? "instruction" : "instructions"}`,
    ...Object.entries(counts).filter(([name, n]) => n && !LESS.includes(name)).map(([name, n]) => `${n} ${(n === 1 ? name.replace(/(?<=ch)es$|s$/, "") : name).replace("_", " ")}`),
    ...(counts.memory_operands ? [`${counts.memory_operands} from memory`] : []),
    ...(counts.bytes ? [`${counts.bytes} bytes`] : []),
  ].join(" · ")

  /** Latency and reciprocal throughput, in words. @param {Cycles | null | undefined} cycles */
  const figures = cycles => cycles ? [cycles.latency, cycles.throughput].map(each => each === null ? "–" : Math.round(each * 10) / 10).join(" / ") : "–"

  /** What the figures of cycles are: bounds of all these kernels. @param {Kernel[]} kernels */
  const bound = kernels => {
    const part = kernels.flatMap(each => Object.values(each.cycles))[0]?.part ?? "call"
    return `lower bound in cycles ${PARTS[part]}: latency / reciprocal throughput`
  }

  /**
   * Counts, cycles and proof of one kernel.
   * @param {Kernel} kernel
   * @param {Index} index
   * @param {State} state
   * @param {(processor: string) => void} choose
   */
  function kernel(kernel, index, state, choose) {
    const known = index.processors.filter(name => kernel.cycles[name])
    return [
      make("p", { class: "atlas-counts" }, counted(kernel.counts)),
      known.length ? Dom.choices(bound([kernel]), known, state.processor, choose, name =>
        `${name} ${figures(kernel.cycles[name])}`) : null,
      make("p", { class: "atlas-says" }, ...proof(kernel), kernel.variant ? ` Variant ${kernel.variant}.` : ""),
    ]
  }

  /** @param {Kernel} kernel */
  function proof(kernel) {
    const { status, digest } = kernel.proof
    const said = status === "proved" ? make("strong", { class: "atlas-proved" }, "Proved for every input") : "Not proved while this site was made"
    return [said, "; SHA-256 of the code ", make("code", {}, digest)]
  }

  /**
   * Every kernel of a routine in the chosen convention; the first column chooses one.
   * @param {Content} content
   * @param {Index} index
   * @param {State} state
   * @param {(choice: Choice) => string} link
   */
  function table(content, index, state, link) {
    const rows = content.kernels.filter(each => each.convention === state.convention)
    const classes = [...new Set(rows.flatMap(each => Object.keys(each.counts).filter(name => each.counts[name] && name !== "instructions")))]
    const known = index.processors.filter(name => rows.some(each => each.cycles[name]))
    const best = Math.min(...rows.map(each => each.counts.instructions))
    return make("div", { class: "atlas-wide", tabindex: 0, role: "region", "aria-label": "All kernels" }, make("table", { class: "atlas-table" },
      known.length ? make("caption", {}, `By processor: ${bound(content.kernels)}`) : null,
      make("thead", {}, make("tr", {}, ["set", "lanes", "instructions", ...classes.map(each => each.replace("_", " ")), ...known].map(each =>
        make("th", { scope: "col" }, each)))),
      make("tbody", {}, rows.map(each => {
        const current = each.set === state.set && each.lanes === state.lanes
        return make("tr", { class: current ? "current" : null },
          make("th", { scope: "row" }, make("a", { href: link(each), "aria-current": current ? "true" : null }, each.set)),
          make("td", {}, each.lanes), make("td", { class: each.counts.instructions === best ? "best" : null }, each.counts.instructions),
          classes.map(name => make("td", {}, each.counts[name] || "–")),
          known.map(name => make("td", {}, figures(each.cycles[name]))))
      }))))
  }

  return { kernel, table, counted }
})()
