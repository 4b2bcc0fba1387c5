"use strict"
// Elements. What is not a node is put in as text, so nothing that the data or a link says becomes markup.

const Dom = (() => {
  const SVG = "http://www.w3.org/2000/svg"

  /**
   * @template {Element} E
   * @param {E} element
   * @param {Record<string, unknown>} attributes functions listen; true is there, false and null are not
   * @param {unknown[]} children
   */
  function filled(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name, /** @type {EventListener} */ (value))
      else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : String(value))
    }
    element.append(...children.flat(2).filter(each => each != null && each !== false).map(each => each instanceof Node ? each : String(each)))
    return element
  }

  /**
   * An HTML element.
   * @template {keyof HTMLElementTagNameMap} T
   * @param {T} tag
   * @param {Record<string, unknown>} [attributes]
   * @param {unknown[]} children
   */
  const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children)

  /**
   * An SVG element.
   * @template {keyof SVGElementTagNameMap} T
   * @param {T} tag
   * @param {Record<string, unknown>} [attributes]
   * @param {unknown[]} children
   */
  const draw = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children)

  let groups = 0
  /**
   * A row of choices of which one is taken.
   * @param {string} title
   * @param {readonly string[]} values
   * @param {string} chosen
   * @param {(value: string) => void} choose
   * @param {(value: string) => unknown} [label]
   */
  function choices(title, values, chosen, choose, label = value => value) {
    const name = `atlas-choice-${++groups}`
    return make("fieldset", { class: "atlas-choices", "data-choice": title }, make("legend", {}, title), values.map(value =>
      make("label", {},
        make("input", { type: "radio", name, value, checked: value === chosen, change: () => choose(value) }),
        make("span", {}, label(value)))))
  }

  /**
   * Gives the focus back to the choice that had it, after all choices were made anew.
   * @param {HTMLElement} inside
   * @param {() => void} change
   */
  function keepingFocus(inside, change) {
    const had = document.activeElement
    const title = had && inside.contains(had) ? had.closest("[data-choice]")?.getAttribute("data-choice") : null
    change()
    if (!title) return
    const again = [...inside.querySelectorAll("fieldset")].find(each => each.dataset.choice === title)
    again?.querySelector("input:checked")?.closest("label")?.control?.focus()
  }

  return { make, draw, choices, keepingFocus }
})()
