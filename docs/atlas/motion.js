"use strict"
// Slow motion: arguments that one sets up, the routine run in the page, and each value that it makes as a board.

const Slow = (() => {
  const { make, choices, keepingFocus } = Dom
  const KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
  const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
  const PACE = 350

  /**
   * The arguments of a routine at first: those of a position, where it says something of them.
   * @param {Routine} routine
   * @param {bigint[]} [words] what the others are
   * @param {string} [fen]
   */
  const position = (routine, words, fen = KIWIPETE) => Squares.ofPosition(routine, fen).map((word, at) =>
    word ?? words?.[at] ?? (Squares.given(routine)[at].kind === "square" ? 28n : Squares.isBoard(Squares.given(routine)[at]) ? 0x0f0e0c08n : 0n))

  /**
   * The section, with what shows another state in it and what ends its clock.
   * @param {Routine} routine
   * @param {string} module
   * @param {(changes: Partial<State>) => void} change
   */
  function section(routine, module, change) {
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

    const setup = make("div", { class: "atlas-setup" })
    const film = make("div", { class: "atlas-film", "aria-hidden": "true" })
    const now = make("div", { class: "atlas-now" })
    const told = make("p", { class: "atlas-told", "aria-live": "polite" })
    const results = make("div", { class: "atlas-results" })
    const code = make("ol", { class: "atlas-module", tabindex: 0, "aria-label": "The routine in JavaScript" })
    const slider = make("input", { type: "range", min: 0, "aria-label": "Step", input: () => step(Number(slider.value)) })
    const play = make("button", { type: "button", class: "atlas-button", click: () => clock ? stop() : start() }, "Play")
    const back = make("button", { type: "button", class: "atlas-button", "aria-label": "Step back", click: () => step(at() - 1) }, "◂")
    const on = make("button", { type: "button", class: "atlas-button", "aria-label": "Step on", click: () => step(at() + 1) }, "▸")

    const at = () => Math.min(shown.step ?? motion.steps.length - 1, motion.steps.length - 1)
    /** @param {number} to */
    const step = to => change({ boards: words, step: Math.max(0, Math.min(motion.steps.length - 1, to)) })

    function start() {
      if (at() === motion.steps.length - 1) step(0)
      play.textContent = "Pause"
      told.setAttribute("aria-live", "off") // a board each third of a second is more than can be said
      clock = window.setInterval(() => at() < motion.steps.length - 1 ? step(at() + 1) : stop(), PACE)
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
      const fen = make("input", { type: "text", id: "atlas-fen", placeholder: START, spellcheck: "false", autocomplete: "off" })
      /** @param {string} text */
      const take = text => {
        try {
          change({ boards: position(routine, words, text), step: null })
        } catch (wrong) {
          error.textContent = /** @type {Error} */ (wrong).message
        }
      }
      keepingFocus(setup, () => setup.replaceChildren(
        ...(names.length ? [
          choices("click to set", names, String(chosen), value => {
            chosen = Number(value)
            drawSetup()
          }, number => parameters[Number(number)].name),
          Board.editor(routine, words, chosen, boards => change({ boards, step: null })),
        ] : []),
        make("div", { class: "atlas-numbers" }, parameters.map((each, number) => Squares.isBoard(each) ? null : numberInput(each, number))),
        make("form", { submit: (/** @type {Event} */ event) => (event.preventDefault(), take(fen.value)) },
          make("label", { for: "atlas-fen" }, "FEN"), fen, make("button", { type: "submit", class: "atlas-button" }, "Set up")),
        make("p", { class: "atlas-presets" },
          make("button", { type: "button", click: () => take(START) }, "start"),
          make("button", { type: "button", click: () => take(KIWIPETE) }, "Kiwipete"),
          make("button", { type: "button", click: () => take("8/8/8/8/8/8/8/8") }, "empty")), error))
    }

    /** @param {Parameter} parameter @param {number} number */
    function numberInput(parameter, number) {
      const names = { dir8: Squares.DIR8, direction9: Squares.AROUND }[parameter.kind]
      /** @param {string} text */
      const take = text => {
        if (!/^\d{1,19}$/.test(text) || parameter.below && BigInt(text) >= BigInt(parameter.below)) return
        change({ boards: words.map((word, each) => each === number ? BigInt(text) : word), step: null })
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
      try {
        motion = Run.motion(module, routine, words)
      } catch (error) {
        motion = { lines: [], steps: [], results: [] }
        told.textContent = /** @type {Error} */ (error).message
      }
      const known = new Map(parameters.map((each, number) => [each.name, words[number]]))
      slider.max = String(Math.max(0, motion.steps.length - 1))
      film.replaceChildren(...motion.steps.slice(0, 400).map((each, number) => {
        const before = known.get(each.name) ?? each.from.reduce((all, [, word]) => all | word, 0n)
        known.set(each.name, each.value)
        return make("span", { title: `${each.name} = ${each.says}`, "data-step": number, click: () => step(number) },
          Board.picture(each.value, order, each.name, before))
      }))
      results.replaceChildren(...motion.results.map((word, number) => figure(routine.results[number], word)))
      code.replaceChildren(...motion.lines.map(line => make("li", {}, make("code", {}, line))))
      drawSetup()
    }

    /** @param {string} name @param {bigint} word @param {bigint} [before] */
    const figure = (name, word, before) => make("figure", {},
      Board.picture(word, order, name, before),
      make("figcaption", {}, make("b", {}, name), make("code", {}, Squares.hex(word))))

    function drawStep() {
      const each = motion.steps[at()]
      slider.value = String(at())
      back.disabled = at() <= 0
      on.disabled = at() >= motion.steps.length - 1
      film.querySelector(".current")?.classList.remove("current")
      code.querySelector(".current")?.classList.remove("current")
      if (!each) return void now.replaceChildren()
      const thumb = film.children[at()]
      thumb?.classList.add("current")
      const line = code.children[each.line]
      line.classList.add("current")
      code.scrollTop = /** @type {HTMLElement} */ (line).offsetTop - code.offsetTop - code.clientHeight / 2
      const squares = Squares.on(each.value, order)
      told.replaceChildren(`Step ${at() + 1} of ${motion.steps.length}: `, make("code", {}, `${each.name} = ${each.says}`),
        make("span", { class: "atlas-hidden" }, `: ${Board.said(squares)}`))
      const before = each.from.reduce((all, [, word]) => all | word, 0n)
      now.replaceChildren(...each.from.map(([name, word]) => figure(name, word)),
        make("span", { class: "atlas-arrow", "aria-hidden": "true" }, "→"), figure(each.name, each.value, before))
    }

    const element = make("section", {
      class: "atlas-motion", "aria-labelledby": "atlas-slow",
      keydown: (/** @type {KeyboardEvent} */ event) => {
        const target = /** @type {HTMLElement} */ (event.target)
        if (target.matches("input, select, [role=group] *, .atlas-module")) return
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
        if (!by) return
        event.preventDefault()
        step(at() + by)
      },
    },
      make("h3", { id: "atlas-slow" }, "Slow motion ", make("small", {}, "run in this page")),
      make("p", { class: "atlas-says" }, "What plays are the operations of the shortest kernel for x86-64, on 64-bit words, whichever kernel is chosen above: the others give the same squares by other instructions."),
      make("div", { class: "atlas-stage" }, setup,
        make("div", { class: "atlas-run" },
          make("div", { class: "atlas-player" }, back, play, on, slider), told, now, film,
          make("h4", {}, "What the call gives"), results,
          make("details", {}, make("summary", {}, "The routine in JavaScript"), code))))

    return {
      element,
      stop,
      /** @param {State} state */
      show(state) {
        const boards = state.boards ?? position(routine)
        const other = !motion || boards.some((word, number) => word !== words[number])
        shown = state
        words = boards
        const square = setup.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.square : undefined
        if (other) run()
        if (square) /** @type {HTMLElement | null} */ (setup.querySelector(`[data-square="${Number(square)}"]`))?.focus()
        drawStep()
      },
    }
  }

  return { section }
})()
