"use strict"
// The atlas: what the address names is shown, and what is chosen is put into the address.

const Atlas = (() => {
  const { make } = Dom

  /** @param {HTMLElement} page */
  async function open(page) {
    const index = await setwiseAtlas.loadIndex()
    const wrong = make("div", { class: "atlas-wrong", role: "alert" })
    const nav = Choose.list(index)
    const drawer = make("details", { class: "atlas-drawer" }, make("summary", {}, "Routines"), nav)
    const heading = make("div", {})
    const chooser = make("div", { class: "atlas-chooser" })
    const facts = make("div", { class: "atlas-facts" })
    const columns = make("div", { class: "atlas-columns" })
    const more = make("div", {})
    const place = make("div", {})
    page.replaceChildren(drawer, make("div", { class: "atlas-main" }, wrong, heading, place, chooser, facts, columns, more))

    const wide = window.matchMedia("(min-width: 60em)")
    const fold = () => { drawer.open = wide.matches }
    wide.addEventListener("change", fold)
    fold()

    /** @type {State} */
    let shown
    /** @type {ReturnType<typeof Slow.section> | null} */
    let slow = null
    let turn = 0

    /** A choice, to which one can go back. @param {Partial<State>} changes */
    const go = changes => { window.location.hash = Links.write({ ...shown, ...changes }) }

    /** A step or a square: the address follows, and back passes over it. @param {Partial<State>} changes */
    const follow = changes => {
      const state = { ...shown, ...changes }
      window.history.replaceState(null, "", Links.write(state))
      shown = state
      slow?.show(state)
    }

    async function show() {
      const mine = ++turn
      const { state, wrong: lines } = Links.read(window.location.hash, index)
      const routine = /** @type {Routine} */ (index.routines.find(each => each.name === state.routine))
      if (shown?.routine !== state.routine) slow?.stop()
      const content = await setwiseAtlas.loadRoutine(routine)
      if (mine !== turn) return // another was asked for meanwhile
      const other = shown?.routine !== state.routine
      const first = !shown
      shown = state
      wrong.replaceChildren(...lines.map(line => make("p", {}, line)))
      const kernel = /** @type {Kernel} */ (content.kernels.find(each =>
        each.set === state.set && each.lanes === state.lanes && each.convention === state.convention))
      const path = new Set(kernel.cycles[state.processor]?.path ?? [])
      Choose.mark(nav, index, state)
      heading.replaceChildren(make("h2", {}, routine.name), make("p", { class: "atlas-says" }, routine.says, " ",
        make("cite", {}, routine.printed.length ? make("a", { href: "../literature.html" }, `Printed as ${routine.printed.join("; ")}.`) : routine.source)))
      Dom.keepingFocus(chooser, () => chooser.replaceChildren(...Choose.kernel(routine, state, go), Save.line(routine, kernel)))
      Dom.keepingFocus(facts, () => facts.replaceChildren(...Facts.kernel(kernel, index, state, processor => go({ processor })).filter(each => each !== null)))
      columns.replaceChildren(Code.description(content, kernel), Code.listing(kernel, path),
        ...(kernel.compilers.length ? [Code.compilers(kernel.compilers)] : []))
      more.replaceChildren(
        make("h3", {}, "All its kernels ", make("small", {}, `convention ${state.convention}`)),
        Facts.table(content, index, state, choice => Links.write({ ...state, ...choice })),
        make("h3", {}, "Dependencies ", make("small", {}, "each instruction below those whose results it reads")),
        Graph.picture(kernel, path))
      if (other) {
        slow = Slow.section(routine, content, follow)
        place.replaceChildren(slow.element)
        if (!first && !wide.matches) drawer.open = false
      }
      slow?.show(state)
    }

    const attempt = () => show().catch(error => wrong.replaceChildren(make("p", {}, error.message)))
    window.addEventListener("hashchange", attempt)
    await attempt()
  }

  return { open }
})()

{
  const page = document.getElementById("atlas")
  if (page) Atlas.open(page).catch(error => page.replaceChildren(Dom.make("p", { class: "atlas-wrong", role: "alert" }, error.message)))
}
