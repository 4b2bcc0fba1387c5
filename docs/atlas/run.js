"use strict"
// Slow motion's engine: the routine itself, exported to JavaScript, runs with a note after each assignment.

/**
 * @typedef {{ line: number, name: string, says: string, value: bigint, from: [string, bigint][] }} Step
 * @typedef {{ lines: string[], steps: Step[], results: bigint[] }} Motion
 */

const Run = (() => {
  const ASSIGNED = /^\s*(?:(?:const|let) )?(\w+(?:\[[^\]]+\])?) = (.*)$/
  const MOST = 20000

  /** The function of an exported module, without what surrounds it. @param {string} module */
  function body(module) {
    const lines = module.split("\n")
    const first = lines.findIndex(line => line.startsWith("export function "))
    return lines.slice(first, lines.indexOf("}", first) + 1)
  }

  /** An expression as one reads it, without what BigInts need. @param {string} text */
  const readable = text => text
    .replace(/;$/, "")
    .replace(/^BigInt\.asUintN\(64, (.*)\)$/, "$1")
    .replace(/\b(0x[0-9a-f]+|\d+)n\b/g, "$1")

  /**
   * The statements that assign, and the function with a note after each: `note(number of the statement, value)`.
   * @param {string[]} lines
   */
  function noting(lines) {
    /** @type {{ line: number, name: string, says: string }[]} */
    const statements = []
    let open = false
    const code = lines.map((line, at) => {
      const found = open ? null : ASSIGNED.exec(line)
      if (found) statements.push({ line: at, name: found[1], says: found[2] })
      else if (open) statements[statements.length - 1].says += ` ${line.trim()}`
      open ||= found !== null
      if (!open || !line.endsWith(";")) return line
      open = false
      return `${line} note(${statements.length - 1}, ${statements[statements.length - 1].name});`
    })
    return { statements, code: code.join("\n").replace(/^export /, "") }
  }

  /**
   * What each assignment of a call makes, and what the call gives.
   * @param {string} module
   * @param {Routine} routine
   * @param {bigint[]} given
   * @returns {Motion}
   */
  function motion(module, routine, given) {
    const lines = body(module)
    const { statements, code } = noting(lines)
    /** @type {Map<string, bigint>} */
    const known = new Map(Squares.given(routine).map((each, at) => [each.name, given[at]]))
    /** @type {Step[]} */
    const steps = []
    /** @param {number} number @param {unknown} value */
    const note = (number, value) => {
      if (typeof value !== "bigint") return // a table
      if (steps.length === MOST) throw new Error(`${routine.name} takes more than ${MOST} steps here.`)
      const { line, name, says } = statements[number]
      const from = [...new Set(says.match(/[a-z_]\w*/gi) ?? [])].flatMap(each => {
        const before = known.get(each)
        return before === undefined ? [] : /** @type {[string, bigint][]} */ ([[each, before]])
      })
      known.set(name, value)
      const copied = /^\w+;$/.test(says) && !name.includes("[")
      if (!copied) steps.push({ line, name, says: readable(says), value, from })
    }
    const run = new Function("note", `"use strict"\nreturn ${code}`)(note)
    const arrays = routine.elements.length > 0
    const result = new BigUint64Array(routine.results.length)
    const got = arrays ? run(...given.map(word => BigUint64Array.of(word)), result, 1n) : run(...given)
    const results = arrays ? [...result] : typeof got === "bigint" ? [got] : [...got]
    return { lines, steps, results }
  }

  return { motion }
})()
