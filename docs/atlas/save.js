"use strict"
// Files to keep: the listing, and the header for C and C++.

const Save = (() => {
  /**
   * A button that hands over a file.
   * @param {string} says
   * @param {string} name
   * @param {() => string} text
   */
  const button = (says, name, text) => Dom.make("button", {
    type: "button", class: "atlas-button", click: () => {
      const link = Dom.make("a", { href: URL.createObjectURL(new Blob([text()], { type: "text/plain" })), download: name })
      link.click()
      URL.revokeObjectURL(link.href)
    },
  }, says)

  /** @param {Routine} routine @param {Kernel} kernel */
  const listing = (routine, kernel) => [
    `; ${routine.name}: ${routine.says}`,
    `; for ${kernel.set}, lanes ${kernel.lanes}, convention ${kernel.convention}, best by ${kernel.objective}`,
    ...(kernel.proof ? [`; ${kernel.proof.status}; SHA-256 of the code ${kernel.proof.digest}`] : []),
    `${routine.name.replaceAll(/\W/g, "_")}:`,
    ...kernel.listing.map(each => `    ${each.text}`), "",
  ].join("\n")

  /** The buttons of a kernel. @param {Routine} routine @param {Kernel} kernel */
  function buttons(routine, kernel) {
    const name = `${routine.name}-${kernel.set}`
    return Dom.make("p", { class: "atlas-save" },
      button("Listing", `${name}.asm`, () => listing(routine, kernel)),
      kernel.header === null ? null : button("C header", `${name}.h`, () => String(kernel.header)))
  }

  return { buttons }
})()
