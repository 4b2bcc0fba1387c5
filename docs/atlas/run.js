"use strict"
// Slow motion's engine: the routine itself, exported to JavaScript, runs with a note after each assignment.

/**
 * @typedef {{ line: string, start: number, end: number, label: string, says: string, value: bigint, from: [string, bigint][] }} Step
 * @typedef {{ steps: Step[], results: bigint[] }} Motion
 */

const Run = (() => {
  const ASSIGNED = /^\s*(?:(?:const|let) )?(\w+(?:\[[^\]]+\])?) = (.*);(?: \/\/ (.*))?$/
  const MOST = 20000

  /** The names in an expression. @param {string} says */
  const words = says => says.match(/[a-z_]\w*/gi) ?? []

  /** An expression as one reads it, without what BigInts need. @param {string} text */
  const readable = text => text
    .replace(/^BigInt\.asUintN\(64, (.*)\)$/, "$1")
    .replace(/\b(0x[0-9a-f]+|\d+)n\b/gi, "$1")
    .replace(/\bt\d+\[/g, "table[")

  /**
   * The statements that assign, each with the expression of the description that it computes. It has that expression's name,
   * unless it is only a part: all its readers compute the same expression.
   * @param {Content} content
   * @param {string} result the name of what is returned
   */
  function statements({ javascript, description }, result) {
    const found = javascript.map(text => ASSIGNED.exec(text))
    return found.map(each => {
      if (!each) return null
      const [, variable, says, place = "[]"] = each
      const [at, from, to] = /** @type {number[]} */ (JSON.parse(place))
      const line = description.lines[at] ?? ""
      const [start, end] = to ? [from, to] : [line.search(/\S|$/), line.length]
      const readers = found.filter(other => other && words(other[2]).includes(variable))
      const part = readers.length > 0 && readers.every(other => other?.[3] === place)
      const target = /^(\w+) \S+= /.exec(line.slice(start, end)) ?? (end === line.length ? /(\w+) = $/.exec(line.slice(0, start)) : null)
      const returned = javascript.some(text => text.trim() === `return ${variable};`)
      return { variable, says, line, start, end, name: part ? undefined : returned ? result : target?.[1] }
    })
  }

  /**
   * What each assignment of a call makes, and what the call gives.
   * @param {Content} content
   * @param {Routine} routine
   * @param {bigint[]} given
   * @returns {Motion}
   */
  function motion(content, routine, given) {
    const noted = statements(content, routine.results[0])
    const code = content.javascript.map((text, at) => noted[at] ? `${text}\nnote(${at}, ${noted[at].variable})` : text).join("\n")
    /** @type {Map<string, [string, bigint]>} */
    const known = new Map(Squares.given(routine).map((each, at) => [each.name, [each.name, given[at]]]))
    const numbers = new Set(Squares.given(routine).filter(each => !Squares.isBoard(each)).map(each => each.name))
    /** @type {Step[]} */
    const steps = []
    /** @param {number} at @param {unknown} value */
    const note = (at, value) => {
      const each = noted[at]
      if (!each || typeof value !== "bigint") return // a table
      const copied = known.get(each.says)
      if (copied) return void known.set(each.variable, copied)
      if (/^\w+$/.test(each.says)) return void known.set(each.variable, [readable(each.says), value])
      if (steps.length === MOST) throw new Error(`${routine.name} takes more than ${MOST} steps here.`)
      const { line, start, end, says, name = `step ${steps.length + 1}` } = each
      const from = [...new Set(words(says))].flatMap(word => known.has(word) && !numbers.has(word) ? [/** @type {[string, bigint]} */ (known.get(word))] : [])
      steps.push({ line, start, end, label: name, value, from, says: readable(says).replace(/[a-z_]\w*/gi, word => known.get(word)?.[0] ?? word) })
      known.set(each.variable, [name, value])
    }
    const out = new BigUint64Array(routine.results.length)
    const run = new Function("note", ...routine.parameters.map(each => each.name), `"use strict"\n{ ${code}\n}`)
    const got = routine.elements.length ? run(note, ...given.map(word => BigUint64Array.of(word)), out, 1n) : run(note, ...given, out)
    return { steps, results: typeof got === "bigint" ? [got] : [...got ?? out] }
  }

  return { motion }
})()
