"use strict"
// The data: script files that call `setwiseAtlas`, since pages from disk may load nothing else.

/**
 * @typedef {{ name: string, kind: string, below: number }} Parameter
 * @typedef {{ set: string, lanes: number, convention: string }} Choice
 * @typedef {{ name: string, family: string, says: string, source: string, printed: string[], direction: string, numbering: string,
 *   parameters: Parameter[], elements: Parameter[], results: string[], requires: string[], kernels: Choice[] }} Routine
 * @typedef {{ processors: string[], routines: Routine[] }} Index
 * @typedef {{ text: string, bytes: string, line: number | null, reads: number[], at?: string }} Instruction
 * @typedef {{ part: "call" | "round" | "longest", latency: number | null, throughput: number | null, path: number[] }} Cycles
 * @typedef {{ compiler: string, options: string, counts: Record<string, number>, listing: string[] }} Compiled
 * @typedef {Choice & { variant: string | null, counts: Record<string, number>, listing: Instruction[],
 *   cycles: Record<string, Cycles | null>, proof: { status: string | null, digest: string },
 *   compilers: Compiled[] }} Kernel
 * @typedef {{ name: string, description: { file: string, lines: string[], numbers: (number | null)[] }, javascript: string[],
 *   kernels: Kernel[] }} Content
 */

const setwiseAtlas = (() => {
  const folder = new URL("../../atlas/", /** @type {HTMLScriptElement} */ (document.currentScript).src)
  /** @type {Map<string, (given: any) => void>} */
  const waiting = new Map()
  /** @type {Map<string, Promise<any>>} */
  const loaded = new Map()

  /**
   * What the script of that path calls `setwiseAtlas` with; an error where there is no such file.
   * @param {string} path
   */
  function load(path) {
    const before = loaded.get(path)
    if (before) return before
    const content = new Promise((resolve, reject) => {
      const script = document.createElement("script")
      script.src = new URL(path, folder).href
      script.onerror = () => reject(new Error(`No atlas/${path} beside this page: make docs writes it.`))
      waiting.set(path, resolve)
      document.head.append(script)
    })
    loaded.set(path, content)
    return content
  }

  /** @param {string} name */
  const pathOf = name => `data/${encodeURIComponent(name)}.js`

  return {
    /** Called by atlas/index.js. @param {Index} given */
    index: given => waiting.get("index.js")?.(given),
    /** Called by atlas/data/NAME.js. @param {Content} given */
    routine: given => waiting.get(pathOf(given.name))?.(given),
    /** @returns {Promise<Index>} */
    loadIndex: () => load("index.js"),
    /** @param {Routine} routine @returns {Promise<Content>} */
    loadRoutine: routine => load(pathOf(routine.name)),
  }
})()
