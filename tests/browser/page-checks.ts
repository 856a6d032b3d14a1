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

/** Presses Tab through the whole page, and returns the controls that were not reached, or did not show that they were. */
export async function missedByKeyboard(page: Page): Promise<string[]> {
  const count = (await page.evaluate(`(() => {
    document.activeElement.blur()
    getSelection().collapse(document.body, 0)
    window.reached = new Set()
    document.addEventListener('focusin', ({ target }) => {
      const shows = [target, target.closest('label')].some((element) => element && getComputedStyle(element).outlineStyle !== 'none')
      if (shows) window.reached.add(target)
    })
    window.controls = [...document.querySelectorAll(${JSON.stringify(CONTROLS)})].filter((element) =>
      element.checkVisibility({ visibilityProperty: true }) && !element.disabled &&
      // The arrow keys choose among radio buttons.
      (element.type !== 'radio' || element.checked))
    return window.controls.length
  })()`)) as number
  // Some more, for areas that scroll.
  for (let presses = 0; presses < count + 20; presses++) await page.keyboard.press('Tab')
  return (await page.evaluate(
    'controls.filter((element) => !reached.has(element)).map((element) => element.outerHTML.slice(0, 160))',
  )) as string[]
}
