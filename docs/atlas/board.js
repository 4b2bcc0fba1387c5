"use strict"
// Boards: pictures of one word, and the board on which arguments are set up.

const Board = (() => {
  const { make, draw } = Dom
  const FIGURES = { rooks: "R", bishops: "B", queens: "Q", knights: "N", kings: "K", pawns: "P", sliders: "S", square: "S" }

  /**
   * A word as a board. Those of its squares that `before` lacks stand out.
   * @param {bigint} word
   * @param {number[]} order the bit of each square
   * @param {string} label what a screen reader says before the squares
   * @param {bigint} [before]
   */
  function picture(word, order, label, before = word) {
    const squares = Squares.on(word, order)
    const old = new Set(Squares.on(before, order))
    const dark = Array.from({ length: 64 }, (_, square) => square).filter(square => (square + (square >> 3)) % 2 === 0)
    return draw("svg", { viewBox: "0 0 8 8", class: "atlas-picture", role: "img", "aria-label": `${label}: ${said(squares)}` },
      draw("path", { class: "dark", d: cells(dark, 0) }),
      draw("path", { class: "on", d: cells(squares.filter(square => old.has(square)), 0.1) }),
      draw("path", { class: "new", d: cells(squares.filter(square => !old.has(square)), 0.1) }))
  }

  /** @param {number[]} squares @param {number} margin */
  const cells = (squares, margin) => squares.map(square =>
    `M${square % 8 + margin} ${7 - (square >> 3) + margin}h${1 - 2 * margin}v${1 - 2 * margin}h${2 * margin - 1}z`).join("")

  /** @param {number[]} squares */
  const said = squares => squares.length ? squares.map(Squares.name).join(" ") : "no square"

  /** The letter by which an argument's squares are marked; none for occupied and empty squares. @param {Parameter} parameter */
  function figure(parameter) {
    if (["occupied", "empty"].includes(parameter.kind)) return ""
    const [side, piece] = parameter.name.split("_")
    const letter = FIGURES[/** @type {keyof FIGURES} */ (piece ?? side)] ?? parameter.name[0]
    return side === "black" ? letter.toLowerCase() : letter
  }

  /** The letters of a square: a rook and bishop is a queen. @param {Parameter[]} here */
  const figures = here => [...new Set(here.map(figure).sort().join("").replace("BR", "Q").replace("br", "q"))].join("")

  /**
   * What the letters and colours of the board mean.
   * @param {Routine} routine
   */
  function legend(routine) {
    const parameters = Squares.given(routine).filter(each => Squares.isBoard(each) || each.kind === "square")
    const letters = parameters.filter(figure)
    const both = letters.some(each => /rooks$/.test(each.name)) && letters.some(each => /bishops$/.test(each.name))
    /** @param {string} kind @param {string} says @param {string} [letter] */
    const entry = (kind, says, letter = "") => make("span", {}, make("i", { class: kind, "aria-hidden": "true" }, letter), says)
    return make("p", { class: "atlas-legend" },
      letters.map(each => entry("piece", each.name.replace("_", " "), figure(each))),
      both ? entry("piece", "queens: in both", "Q") : null,
      letters.length < parameters.length ? entry("blocked", letters.length ? "other occupied squares" : "occupied squares") : null,
      entry("on", "this step's board"), entry("new", "new in this step"))
  }

  /**
   * Colours the squares of a step on the board; those that its operands lack stand out.
   * @param {HTMLElement} editor
   * @param {number[]} squares
   * @param {number[]} old
   */
  function colour(editor, squares, old) {
    for (const button of editor.querySelectorAll("button")) {
      const square = Number(button.dataset.square)
      button.classList.toggle("on", squares.includes(square) && old.includes(square))
      button.classList.toggle("new", squares.includes(square) && !old.includes(square))
    }
  }

  /**
   * The arguments after one square of one of them was clicked; what the contract requires of the others goes along.
   * @param {Routine} routine
   * @param {bigint[]} words
   * @param {number} at which argument
   * @param {bigint} bit
   */
  function clicked(routine, words, at, bit) {
    const parameters = Squares.given(routine)
    const after = words.map((word, each) => each === at ? word ^ bit : word)
    const there = (after[at] & bit) !== 0n
    const within = routine.requires.includes("sliders within occupied")
    const apart = routine.requires.includes("no slider on an empty square")
    parameters.forEach(({ kind }, each) => {
      const [clear, set] = [after[each] & ~bit, after[each] | bit]
      if (parameters[at].kind === "board" && there && within && kind === "occupied") after[each] = set
      if (parameters[at].kind === "board" && there && apart && kind === "empty") after[each] = clear
      if (parameters[at].kind === "occupied" && !there && within && kind === "board") after[each] = clear
      if (parameters[at].kind === "empty" && there && apart && kind === "board") after[each] = clear
    })
    return after
  }

  /**
   * A board to set up arguments: buttons, of which the arrow keys go from one to the next.
   * @param {Routine} routine
   * @param {bigint[]} words
   * @param {number} at the argument that clicks change
   * @param {(words: bigint[]) => void} change
   */
  function editor(routine, words, at, change) {
    const order = Squares.numbers(routine.numbering)
    const parameters = Squares.given(routine)
    let focused = 0
    const buttons = Array.from({ length: 64 }, (_, square) => {
      const bit = 1n << BigInt(order[square])
      const here = parameters.filter((each, number) => each.kind === "square" ? words[number] === BigInt(order[square]) : Squares.isBoard(each) && words[number] & bit)
      const blocked = parameters.some((each, number) => each.kind === "occupied" && words[number] & bit || each.kind === "empty" && !(words[number] & bit))
      const letters = figures(here)
      const limit = parameters[at]?.below || 0
      return make("button", {
        type: "button", tabindex: square ? -1 : 0, "data-square": square, disabled: limit > 0 && bit >= BigInt(limit),
        class: `${(square + (square >> 3)) % 2 ? "light" : "dark"}${letters ? " piece" : blocked ? " blocked" : ""}`,
        "aria-pressed": String((words[at] & bit) !== 0n),
        "aria-label": `${Squares.name(square)}: ${here.map(each => each.name).join(", ") || "none"}`,
        click: () => change(clicked(routine, words, at, bit)),
      }, letters)
    })
    /** @param {string | number} text */
    const coordinate = text => make("span", { "aria-hidden": "true" }, text)
    const rows = Array.from({ length: 8 }, (_, row) => [coordinate(8 - row), ...buttons.slice(8 * (7 - row), 8 * (8 - row))])
    /** @param {number} square */
    const focus = square => {
      buttons[focused].tabIndex = -1
      buttons[focused = square].tabIndex = 0
    }
    return make("div", {
      class: "atlas-editor", role: "group", "aria-label": `Squares of ${parameters[at]?.name}`,
      focusin: (/** @type {FocusEvent} */ event) => focus(Number(/** @type {HTMLElement} */ (event.target).dataset.square)),
      keydown: (/** @type {KeyboardEvent} */ event) => {
        const step = { ArrowUp: 8, ArrowDown: -8, ArrowLeft: -1, ArrowRight: 1 }[event.key]
        if (step === undefined) return
        event.preventDefault()
        event.stopPropagation()
        const to = focused + step
        if (to >= 0 && to < 64 && (Math.abs(step) === 8 || to >> 3 === focused >> 3)) buttons[to].focus()
      },
    }, rows, ["", ..."abcdefgh"].map(coordinate))
  }

  return { picture, editor, legend, colour, said }
})()
