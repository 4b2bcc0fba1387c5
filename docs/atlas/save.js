"use strict"
// What to take along: the listing as a file, and the command that prints it.

const Save = (() => {
  /** @param {Routine} routine @param {Kernel} kernel */
  const listing = (routine, kernel) => [
    `; ${routine.name}: ${routine.says}`,
    `; for ${kernel.set}, lanes ${kernel.lanes}, convention ${kernel.convention}`,
    `; ${kernel.proof.status === "proved" ? "proved; " : ""}SHA-256 of the code ${kernel.proof.digest}`,
    `${routine.name.replaceAll(/\W/g, "_")}:`,
    ...kernel.listing.flatMap(each => [...(each.at ? [`${each.at}:`] : []), `    ${each.text}`]), "",
  ].join("\n")

  /** The command of a kernel, and a button that hands over its listing. @param {Routine} routine @param {Kernel} kernel */
  const line = (routine, kernel) => Dom.make("p", { class: "atlas-save" },
    Dom.make("code", {}, `setwise listing ${routine.name} --isa ${kernel.set} --lanes ${kernel.lanes} --abi ${kernel.convention}`),
    Dom.make("button", {
      type: "button", class: "atlas-button", click: () => {
        const link = Dom.make("a", {
          href: URL.createObjectURL(new Blob([listing(routine, kernel)], { type: "text/plain" })), download: `${routine.name}-${kernel.set}.asm`,
        })
        link.click()
        URL.revokeObjectURL(link.href)
      },
    }, "Download"))

  return { line }
})()
