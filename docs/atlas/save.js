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
    `; ${kernel.proof.status === "proved" ? "proved; " : ""}SHA-256 of the code ${kernel.proof.digest}`,
    `${routine.name.replaceAll(/\W/g, "_")}:`,
    ...kernel.listing.flatMap(each => [...(each.at ? [`${each.at}:`] : []), `    ${each.text}`]), "",
  ].join("\n")

  /** The buttons of a kernel. @param {Routine} routine @param {Kernel} kernel @param {Content} content */
  function buttons(routine, kernel, content) {
    const name = `${routine.name}-${kernel.set}`
    const same = content.kernels.filter(each => each.set === kernel.set && each.lanes === kernel.lanes && each.objective === kernel.objective)
    const header = kernel.header ?? same.find(each => each.header !== null)?.header ?? null
    return Dom.make("p", { class: "atlas-save" },
      button("Listing", `${name}.asm`, () => listing(routine, kernel)),
      header === null ? null : button("C header", `${name}.h`, () => header))
  }

  return { buttons }
})()
