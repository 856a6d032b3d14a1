import { readFileSync } from 'node:fs'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** What every page must have, in whatever size and color scheme it is shown. */

const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

/** The violations that axe finds, with their elements. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(`window.axe ?? (() => { ${AXE} })()`)
  // It would load the stylesheets a second time, for rules that we do not run.
  const options = JSON.stringify({ resultTypes: ['violations'], preload: false })
  const results = (await page.evaluate(`axe.run(document, ${options})`)) as AxeResults
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`),
  )
}

/** By how many pixels the page is wider than the window. */
export const overflow = async (page: Page): Promise<number> =>
  Math.max(0, (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number)

/** Waits until React has the page; before, it is a document without script. */
export const hydrated = (page: Page): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const look = () =>
      Object.keys(document.querySelector('.brand')).some((key) => key.startsWith('__reactProps'))
        ? resolve()
        : setTimeout(look, 20)
    look()
  })`)

/** The elements that move by themselves or after a change of state. */
export const moving = async (page: Page): Promise<string[]> =>
  (await page.evaluate(`[...document.querySelectorAll('*')]
    .filter((element) => {
      const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(element)
      return transitionDuration.split(', ').some((one) => one !== '0s') || animationName !== 'none' || scrollBehavior !== 'auto'
    })
    .map((element) => element.outerHTML.slice(0, 100))`)) as string[]

const CONTROLS = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]'

/** Presses Tab until the focus is on an element of the selector. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 90; presses++) {
    await page.keyboard.press('Tab')
    if (await isFocused(page, selector)) return
  }
  throw new Error(`90 presses of Tab do not reach ${selector}`)
}

export const isFocused = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)

/** What has the focus, when it does not show that, is outside the window or behind something else. */
const LOST = `(() => {
  const focused = document.activeElement
  if (focused === document.body) return
  reached.add(focused)
  // A field that only its label shows.
  const label = focused.closest('label')
  const shown = focused.matches('.visually-hidden') && label ? label : focused
  const { left, right, top, bottom } = shown.getBoundingClientRect()
  const middle = (from, to, most) => (Math.max(0, from) + Math.min(most, to)) / 2
  const hit = document.elementFromPoint(middle(left, right, innerWidth), middle(top, bottom, innerHeight))
  const isSeen = right > 0 && left < innerWidth && bottom > 0 && top < innerHeight && hit && (shown.contains(hit) || hit.contains(shown))
  const isMarked = [focused, label].some((element) => element && getComputedStyle(element).outlineStyle !== 'none')
  if (!isSeen || !isMarked) return (isSeen ? 'not marked: ' : 'not seen: ') + focused.outerHTML.slice(0, 160)
})()`

/** Presses Tab through the whole page, and returns the controls that were not reached, or could not be seen then. */
export async function missedByKeyboard(page: Page): Promise<string[]> {
  const count = (await page.evaluate(`(() => {
    document.activeElement.blur()
    getSelection().collapse(document.body, 0)
    window.reached = new Set()
    window.controls = [...document.querySelectorAll(${JSON.stringify(CONTROLS)})].filter((element) =>
      element.checkVisibility({ visibilityProperty: true }) && !element.disabled &&
      // The arrow keys choose among radio buttons.
      (element.type !== 'radio' || element.checked))
    return window.controls.length
  })()`)) as number
  const lost: string[] = []
  // Some more, for areas that scroll.
  for (let presses = 0; presses < count + 20; presses++) {
    await page.keyboard.press('Tab')
    const one = (await page.evaluate(LOST)) as string | undefined
    if (one !== undefined && !lost.includes(one)) lost.push(one)
  }
  const missed = (await page.evaluate(
    'controls.filter((element) => !reached.has(element)).map((element) => element.outerHTML.slice(0, 160))',
  )) as string[]
  return [...lost, ...missed]
}
