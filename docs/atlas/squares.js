"use strict"
// Squares and positions. A square is 0 for a1 to 63 for h8; its bit in a word is what the routine's numbering says.

const Squares = (() => {
  const ALL = (1n << 64n) - 1n
  const DIR8 = ["noEa", "east", "soEa", "sout", "soWe", "west", "noWe", "nort"]
  const AROUND = ["none", "east", "noEa", "nort", "noWe", "west", "soWe", "sout", "soEa"]
  const ORTHOGONAL = ["east", "sout", "west", "nort", "vertical", "rook"]
  const DIAGONAL = ["noEa", "soEa", "soWe", "noWe", "bishop"]

  const POSITIONS = {
    literature: "r5k1/2bq1p1p/1p4p1/2p5/3p1r2/2N4P/PPP2PP1/R2Q2K1 b - - 0 1", // the sliders and empty squares of Dumb7Fill's fills
    start: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    Kiwipete: "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    empty: "8/8/8/8/8/8/8/8",
  }

  /** @param {number} square */
  const name = square => "abcdefgh"[square % 8] + (Math.floor(square / 8) + 1)

  /**
   * The number of each square, a1 first, by a numbering's name: the square of number 0, along ranks or along files.
   * @param {string} numbering
   */
  function numbers(numbering) {
    const [corner, files] = [numbering.slice(0, 2), numbering.endsWith("-by-files")]
    const [file, rank] = files ? [8, 1] : [1, 8]
    return Array.from({ length: 64 }, (_, square) => {
      const [x, y] = [square % 8, Math.floor(square / 8)]
      return file * (corner[0] === "h" ? 7 - x : x) + rank * (corner[1] === "8" ? 7 - y : y)
    })
  }

  /** @param {bigint} word @param {number[]} order */
  const on = (word, order) => order.flatMap((bit, square) => (word >> BigInt(bit)) & 1n ? [square] : [])

  /** @param {number[]} squares @param {number[]} order */
  const word = (squares, order) => squares.reduce((sum, square) => sum | (1n << BigInt(order[square])), 0n)

  /** @param {bigint} word */
  const hex = word => `0x${word.toString(16).padStart(16, "0")}`

  /**
   * The arguments of a call in order: of a routine on arrays those of one board.
   * @param {Routine} routine
   */
  const given = routine => routine.elements.length ? routine.elements : routine.parameters.filter(each => each.kind !== "results")

  /** Whether an argument is set up on the board; other arguments are numbers. @param {Parameter} parameter */
  const isBoard = parameter =>
    ["board", "leapers", "occupied", "empty", "word"].includes(parameter.kind)

  /**
   * The pieces on their squares, and who moves; an error in one line for what is no FEN.
   * @param {string} text
   * @returns {{ pieces: Map<number, string>, white: boolean }}
   */
  function parse(text) {
    const [board, side = "w"] = text.trim().split(/\s+/)
    const ranks = board.split("/")
    if (ranks.length !== 8) throw new Error(`A FEN has eight ranks between slashes, not ${ranks.length}.`)
    if (side !== "w" && side !== "b") throw new Error(`After the board a FEN says who moves, w or b, not ${side}.`)
    const pieces = new Map()
    ranks.forEach((rank, at) => {
      let file = 0
      for (const letter of rank) {
        if (/[1-8]/.test(letter)) file += Number(letter)
        else if (/[pnbrqk]/i.test(letter)) pieces.set(8 * (7 - at) + file++, letter)
        else throw new Error(`A FEN's ranks are made of pnbrqk, PNBRQK and 1 to 8: ${letter} is none of them.`)
      }
      if (file !== 8) throw new Error(`Rank ${8 - at} of the FEN has ${file} squares, not 8.`)
    })
    return { pieces, white: side === "w" }
  }

  /**
   * The arguments that a position gives, as `setwise run --fen` takes them; null where it says nothing of one.
   * @param {Routine} routine
   * @param {string} fen
   * @returns {(bigint | null)[]}
   */
  function ofPosition(routine, fen) {
    const { pieces, white } = parse(fen)
    const order = numbers(routine.numbering)
    const mover = routine.direction === "white" ? true : routine.direction === "black" ? false : white
    /** @param {string} letters @param {boolean} side */
    const of = (letters, side = mover) =>
      word([...pieces].flatMap(([square, piece]) => (side ? letters : letters.toLowerCase()).includes(piece) ? [square] : []), order)
    const slide = ORTHOGONAL.includes(routine.direction) ? "RQ" : DIAGONAL.includes(routine.direction) ? "BQ" : "Q"
    const apart = given(routine).some(each => each.name === "queens")
    const occupied = of("PNBRQK", true) | of("PNBRQK", false)
    /** @type {Record<string, bigint>} */
    const byName = {
      sliders: of(slide), rooks: of(apart ? "R" : "RQ"), bishops: of(apart ? "B" : "BQ"), queens: of("Q"), knights: of("N"),
      kings: of("K"), pawns: of("P"), white: of("PNBRQK", true), black: of("PNBRQK", false), targets: ALL & ~of("PNBRQK"),
      white_rooks: of("RQ", true), white_bishops: of("BQ", true), black_rooks: of("RQ", false), black_bishops: of("BQ", false),
    }
    /** @type {Record<string, bigint>} */
    const byKind = { occupied, empty: ALL & ~occupied }
    return given(routine).map(each => byName[each.name] ?? byKind[each.kind] ?? null)
  }

  return { POSITIONS, DIR8, AROUND, name, numbers, on, word, hex, given, isBoard, ofPosition }
})()
