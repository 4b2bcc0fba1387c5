"use strict"
// What is shown: the list of routines with its search, and the row of choices among a routine's kernels.

const Choose = (() => {
  const { make, choices } = Dom

  /**
   * All routines by family, as links, and a box that thins them out by words.
   * @param {Index} index
   */
  function list(index) {
    const families = [...new Set(index.routines.map(each => each.family))]
    const count = make("p", { class: "atlas-count", role: "status" }, `${index.routines.length} routines`)
    const groups = families.map(family => make("section", { "aria-label": family },
      make("h3", {}, family),
      make("ul", {}, index.routines.filter(each => each.family === family).map(each =>
        make("li", { "data-words": [each.name, each.says, each.source, ...each.printed].join(" ").toLowerCase() },
          make("a", { href: Links.to(each, {}), "data-routine": each.name, title: each.says },
            each.name.startsWith(`${family}.`) ? each.name.slice(family.length + 1) : each.name))))))
    const found = () => groups.flatMap(group => [...group.querySelectorAll("li")]).filter(each => !each.hidden)
    const search = make("input", {
      type: "search", placeholder: "soutOccl, kogge south, union, …", "aria-label": "Search routines", autocomplete: "off", spellcheck: "false",
      input: () => {
        const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
        for (const group of groups) {
          const items = [...group.querySelectorAll("li")]
          for (const item of items) item.hidden = !words.every(word => item.dataset.words?.includes(word))
          group.hidden = items.every(item => item.hidden)
        }
        const left = found().length
        count.textContent = left === 1 ? "1 routine" : `${left} routines`
      },
      keydown: (/** @type {KeyboardEvent} */ event) => {
        const first = found()[0]?.querySelector("a")
        if (event.key === "Enter") first?.click()
        if (event.key === "ArrowDown") first?.focus()
        if (["Enter", "ArrowDown"].includes(event.key)) event.preventDefault()
      },
    })
    const names = make("div", { class: "atlas-names", tabindex: 0, role: "region", "aria-label": "Routines by family" }, groups)
    return make("nav", { "aria-label": "Routines" }, search, count, names)
  }

  /**
   * Marks the routine that is shown; the others' links keep to its choices as far as they have them.
   * @param {HTMLElement} nav
   * @param {Index} index
   * @param {State} state
   */
  function mark(nav, index, state) {
    for (const routine of index.routines) {
      const link = /** @type {HTMLAnchorElement} */ (nav.querySelector(`[data-routine="${CSS.escape(routine.name)}"]`))
      link.href = Links.to(routine, state)
      if (routine.name === state.routine) link.setAttribute("aria-current", "page")
      else link.removeAttribute("aria-current")
    }
    const [current, names] = [nav.querySelector("[aria-current]"), nav.querySelector(".atlas-names")]
    if (!current || !names) return
    const [inner, outer] = [current.getBoundingClientRect(), names.getBoundingClientRect()]
    if (inner.top < outer.top || inner.bottom > outer.bottom) names.scrollTop += inner.top - outer.top - outer.height / 3
  }

  const KEYS = /** @type {const} */ (["set", "lanes", "convention"])
  const TITLES = { set: "instruction set", lanes: "boards or directions in a register", convention: "convention" }

  /**
   * Rows of choices: each offers what there is for the choices before it.
   * @param {Routine} routine
   * @param {State} state
   * @param {(choice: Choice) => void} choose
   */
  function kernel(routine, state, choose) {
    let left = routine.kernels
    return KEYS.map(key => {
      const values = [...new Set(left.map(each => String(each[key])))]
      left = left.filter(each => each[key] === state[key])
      return choices(TITLES[key], values, String(state[key]), value => {
        const wished = { ...state, [key]: key === "lanes" ? Number(value) : value }
        const same = routine.kernels.filter(each => each[key] === wished[key] && KEYS.slice(0, KEYS.indexOf(key)).every(before => each[before] === state[before]))
        choose(Links.nearest(same, wished))
      })
    })
  }

  return { list, mark, kernel }
})()
