"use strict"
// What a link says, in its part after #: routine, kernel, boards, step. Anybody may have written it, so each word is checked.

/**
 * @typedef {Choice & { routine: string, boards: bigint[] | null, step: number | null, processor: string }} State
 */

const Links = (() => {
  const KEYS = /** @type {const} */ (["set", "lanes", "convention"])

  const FIRST = "kogge-stone.attacks.sout"

  /** @param {string} word */
  const quoted = word => `'${word.length > 40 ? `${word.slice(0, 40)}…` : word}'`

  /**
   * The kernel of a routine that is nearest to what is wished: the set first, then lanes and convention.
   * @param {Choice[]} kernels
   * @param {Partial<Choice>} wished
   */
  function nearest(kernels, wished) {
    let left = kernels
    for (const key of KEYS) {
      const same = left.filter(each => each[key] === wished[key])
      left = same.length ? same : left.filter(each => each[key] === left[0][key])
    }
    return left[0]
  }

  /**
   * The state that a link names, and a line for each word of it that names nothing here.
   * @param {string} hash
   * @param {Index} index
   * @returns {{ state: State, wrong: string[] }}
   */
  function read(hash, index) {
    const asked = new URLSearchParams(hash.replace(/^#/, ""))
    /** @type {string[]} */
    const wrong = []
    const name = asked.get("routine") ?? FIRST
    /** @param {string} name */
    const routineOf = name => index.routines.find(each => each.name === name)
    const found = routineOf(name)
    if (!found && asked.has("routine")) wrong.push(`There is no routine ${quoted(name)}: choose one from the list.`)
    const routine = found ?? routineOf(FIRST) ?? index.routines[0]
    /** @type {Partial<Record<keyof Choice, string | number>>} */
    const wished = {}
    for (const key of KEYS) {
      const word = found && asked.get(key)
      if (word == null) continue
      wished[key] = key === "lanes" ? Number(word) : word
    }
    const kernel = nearest(routine.kernels, /** @type {Partial<Choice>} */ (wished))
    for (const key of KEYS) {
      if (key in wished && kernel[key] !== wished[key])
        wrong.push(`${routine.name} has no kernel with ${key} ${quoted(String(asked.get(key)))} here: this is the one with ${kernel[key]}.`)
    }
    const boards = found ? readBoards(asked.get("boards"), routine, wrong) : null
    const step = asked.get("step")
    if (step !== null && !/^\d{1,5}$/.test(step)) wrong.push(`A step is a number, not ${quoted(step)}.`)
    const processor = asked.get("processor") ?? index.processors[0] ?? ""
    const known = index.processors.includes(processor)
    if (!known && processor) wrong.push(`There are no figures for a processor ${quoted(processor)}.`)
    return {
      state: {
        routine: routine.name, set: kernel.set, lanes: kernel.lanes, convention: kernel.convention,
        boards, step: step !== null && /^\d{1,5}$/.test(step) ? Number(step) : null, processor: known ? processor : index.processors[0] ?? "",
      },
      wrong,
    }
  }

  /**
   * @param {string | null} text
   * @param {Routine} routine
   * @param {string[]} wrong
   */
  function readBoards(text, routine, wrong) {
    if (text === null) return null
    const words = text.split(".")
    const parameters = Squares.given(routine)
    const fits = words.length === parameters.length && words.every((word, at) =>
      /^[0-9a-f]{1,16}$/.test(word) && (!parameters[at].below || BigInt(`0x${word}`) < BigInt(parameters[at].below)))
    if (fits) return words.map(word => BigInt(`0x${word}`))
    wrong.push(`The boards ${quoted(text)} are not what ${routine.name} takes (${parameters.map(each => each.name).join(", ")}): ` +
      "this is another position.")
    return null
  }

  /**
   * The part of a link after # that names a state.
   * @param {State} state
   */
  function write(state) {
    const words = new URLSearchParams({ routine: state.routine })
    for (const key of KEYS) words.set(key, String(state[key]))
    if (state.processor) words.set("processor", state.processor)
    if (state.boards) words.set("boards", state.boards.map(word => word.toString(16)).join("."))
    if (state.step !== null) words.set("step", String(state.step))
    return `#${words}`
  }

  /**
   * The same for another routine: its kernel that is nearest, its position as at first.
   * @param {Routine} routine
   * @param {Partial<State>} state
   */
  const to = (routine, state) => write({
    processor: "", ...state, ...nearest(routine.kernels, state), routine: routine.name, boards: null, step: null,
  })

  return { nearest, read, write, to }
})()
