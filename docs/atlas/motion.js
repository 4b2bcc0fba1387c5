"use strict"
// Slow motion: arguments that one sets up, the routine run in the page, and each value that it makes as a board.

const Slow = (() => {
  const { make, choices, keepingFocus } = Dom
  const PACE = 350

  /**
   * The arguments of a routine at first: those of a position, where it says something of them.
   * @param {Routine} routine
   * @param {bigint[]} [words] what the others are
   * @param {string} [fen]
   */
  const position = (routine, words, fen = Squares.POSITIONS.literature) => Squares.ofPosition(routine, fen).map((word, at) =>
    word ?? words?.[at] ?? (Squares.given(routine)[at].kind === "square" ? 28n : Squares.isBoard(Squares.given(routine)[at]) ? 0x0f0e0c08n : 0n))

  /**
   * The section, with what shows another state in it and what ends its clock.
   * @param {Routine} routine
   * @param {Content} content
   * @param {(changes: Partial<State>) => void} change
   */
  function section(routine, content, change) {
    const parameters = Squares.given(routine)
    const order = Squares.numbers(routine.numbering)
    let chosen = Math.max(0, parameters.findIndex(Squares.isBoard))
    /** @type {State} */
    let shown
    /** @type {bigint[]} */
    let words
    /** @type {Motion} */
    let motion
    let clock = 0

    const stage = make("div", { class: "atlas-board" })
    const setup = make("div", { class: "atlas-setup" })
    const film = make("div", { class: "atlas-film", "aria-hidden": "true" })
    const now = make("div", { class: "atlas-now" })
    const told = make("p", { class: "atlas-told", "aria-live": "polite" })
    const results = make("div", { class: "atlas-results" })
    const slider = make("input", { type: "range", min: 0, "aria-label": "Step", input: () => step(Number(slider.value)) })
    const play = make("button", { type: "button", class: "atlas-button", click: () => clock ? stop() : start() }, "Play")
    const back = make("button", { type: "button", class: "atlas-button", "aria-label": "Step back", click: () => step(at() - 1) }, "◂")
    const on = make("button", { type: "button", class: "atlas-button", "aria-label": "Step on", click: () => step(at() + 1) }, "▸")

    const last = () => motion.steps.length
    const at = () => Math.min(shown.step ?? 0, last())
    /** @param {number} to */
    const step = to => change({ boards: words, step: Math.max(0, Math.min(last(), to)) })

    function start() {
      if (at() === last()) step(0)
      play.textContent = "Pause"
      told.setAttribute("aria-live", "off") // a board each third of a second is more than can be said
      clock = window.setInterval(() => at() < last() ? step(at() + 1) : stop(), PACE)
    }

    function stop() {
      window.clearInterval(clock)
      clock = 0
      play.textContent = "Play"
      told.setAttribute("aria-live", "polite")
    }

    function drawSetup() {
      const names = parameters.flatMap((each, number) => Squares.isBoard(each) ? [String(number)] : [])
      const error = make("p", { class: "atlas-wrong", role: "alert" })
      const fen = make("input", { type: "text", id: "atlas-fen", placeholder: Squares.POSITIONS.start, spellcheck: "false", autocomplete: "off" })
      /** @param {string} text */
      const take = text => {
        try {
          change({ boards: position(routine, words, text) })
        } catch (wrong) {
          error.textContent = /** @type {Error} */ (wrong).message
        }
      }
      stage.replaceChildren(...(names.length ? [Board.editor(routine, words, chosen, boards => change({ boards })), Board.legend(routine)] : []))
      keepingFocus(setup, () => setup.replaceChildren(
        names.length ? choices("a click on the board changes", names, String(chosen), value => {
          chosen = Number(value)
          drawSetup()
          drawStep()
        }, number => parameters[Number(number)].name) : "",
        make("div", { class: "atlas-numbers" }, parameters.map((each, number) => Squares.isBoard(each) ? null : numberInput(each, number))),
        make("p", { class: "atlas-presets" }, Object.entries(Squares.POSITIONS).map(([name, text]) =>
          make("button", { type: "button", click: () => take(text) }, name))),
        make("form", { submit: (/** @type {Event} */ event) => (event.preventDefault(), take(fen.value)) },
          make("label", { for: "atlas-fen" }, "FEN"), fen, make("button", { type: "submit", class: "atlas-button" }, "Set up")), error))
    }

    /** @param {Parameter} parameter @param {number} number */
    function numberInput(parameter, number) {
      const names = { dir8: Squares.DIR8, direction9: Squares.AROUND }[parameter.kind]
      /** @param {string} text */
      const take = text => {
        if (!/^\d{1,19}$/.test(text) || parameter.below && BigInt(text) >= BigInt(parameter.below)) return
        change({ boards: words.map((word, each) => each === number ? BigInt(text) : word) })
      }
      const value = String(words[number])
      const squares = Array.from({ length: 64 }, (_, square) => [String(order[square]), Squares.name(square)])
      const options = parameter.kind === "square" ? squares : names?.map((name, each) => [String(each), name])
      return make("label", {}, parameter.name, " ", options
        ? make("select", { change: (/** @type {Event} */ event) => take(/** @type {HTMLSelectElement} */ (event.target).value) },
          options.map(([word, name]) => make("option", { value: word, selected: word === value }, name)))
        : make("input", { type: "number", min: 0, max: parameter.below ? parameter.below - 1 : null, value,
          change: (/** @type {Event} */ event) => take(/** @type {HTMLInputElement} */ (event.target).value) }))
    }

    /** What a call makes, for boards that are not those shown before. */
    function run() {
      let failed = ""
      try {
        motion = Run.motion(content, routine, words)
      } catch (error) {
        motion = { steps: [], results: [] }
        failed = /** @type {Error} */ (error).message
      }
      slider.max = String(last())
      film.replaceChildren(...motion.steps.slice(0, 400).map((each, number) =>
        make("span", { title: `${each.label} = ${each.says}`, "data-step": number + 1, click: () => step(number + 1) },
          Board.picture(each.value, order, each.label, before(each)))))
      results.replaceChildren(failed, ...motion.results.map((word, number) => figure(routine.results[number], word)))
      drawSetup()
    }

    /** The squares of all operands of a step. @param {Step} step */
    const before = step => step.from.reduce((all, [, word]) => all | word, 0n)

    /** @param {string} name @param {bigint} word @param {bigint} [before] */
    const figure = (name, word, before) => make("figure", {},
      Board.picture(word, order, name, before),
      make("figcaption", {}, make("b", {}, name), make("code", {}, Squares.hex(word))))

    function drawStep() {
      slider.value = String(at())
      back.disabled = at() <= 0
      on.disabled = at() >= last()
      film.querySelector(".current")?.classList.remove("current")
      const each = motion.steps[at() - 1]
      const squares = each ? Squares.on(each.value, order) : []
      Board.colour(stage, squares, each ? Squares.on(before(each), order) : [])
      const place = make("b", {}, `Step ${at()} of ${last()}: `)
      if (!each) {
        told.replaceChildren(place, "the arguments.")
        return void now.replaceChildren(...parameters.map((parameter, number) => Squares.isBoard(parameter) ? figure(parameter.name, words[number]) : ""))
      }
      film.children[at() - 1]?.classList.add("current")
      const { line, start, end, label, says } = each
      told.replaceChildren(place, make("code", {}, line.slice(0, start).trimStart(), make("mark", {}, line.slice(start, end)), line.slice(end)), make("br"),
        make("small", {}, `${label} = ${says}`), make("span", { class: "atlas-hidden" }, `: ${Board.said(squares)}`))
      now.replaceChildren(...each.from.map(([name, word]) => figure(name, word)),
        make("span", { class: "atlas-arrow", "aria-hidden": "true" }, "→"), figure(label, each.value, before(each)))
    }

    const element = make("section", {
      class: "atlas-motion", "aria-label": "Slow motion",
      keydown: (/** @type {KeyboardEvent} */ event) => {
        const target = /** @type {HTMLElement} */ (event.target)
        if (target.matches("input, select, [role=group] *")) return
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
        if (!by) return
        event.preventDefault()
        step(at() + by)
      },
    },
      stage,
      make("div", { class: "atlas-run" },
        make("div", { class: "atlas-player" }, back, play, on, slider), told, now, film,
        make("h3", {}, "Result"), results),
      setup,
      make("p", { class: "atlas-note" }, make("small", {}, "The steps are the operations of the shortest kernel for x86-64. Other kernels give the same squares.")))

    return {
      element,
      stop,
      /** @param {State} state */
      show(state) {
        const boards = state.boards ?? position(routine)
        const other = !motion || boards.some((word, number) => word !== words[number])
        shown = state
        words = boards
        const square = stage.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.square : undefined
        if (other) run()
        if (square) /** @type {HTMLElement | null} */ (stage.querySelector(`[data-square="${Number(square)}"]`))?.focus()
        drawStep()
      },
    }
  }

  return { section }
})()
