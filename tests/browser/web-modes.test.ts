import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import buildPages from '../support/build-pages.ts'
import { missedByKeyboard, moving, overflow, tabTo, violations } from './page-checks.ts'
import { fillWithSamples } from './sample-market.ts'
import { PAGE_NAMES, startWebPages, type WebPages } from './web-pages.ts'

/**
 * Every page in both sizes and both schemes, with the pictures of them in .cache/screenshots: by axe, and by the keyboard.
 * `web.test.ts` has the two modes that CI shows.
 */

const FOLDER = '.cache/screenshots'
const WIDTHS = [360, 1_280] as const
const SCHEMES = ['light', 'dark'] as const

let web: WebPages
beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true })
  await buildPages()
  web = await startWebPages(fillWithSamples)
})
afterAll(() => web?.stop())

const open = async (name: (typeof PAGE_NAMES)[number]) => {
  const [path, awaited] = web.all[name]
  const shown = await web.shown(path)
  await shown.page.locator(awaited).first().waitFor()
  return shown
}

const MODES = PAGE_NAMES.flatMap((name) =>
  WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ name, width, scheme }))),
)

test.each(MODES)(
  '$name, $width px, $scheme: no error, no script of a user, no overflow, no motion and no violation of axe',
  async ({ name, width, scheme }) => {
    const { page, problems } = await open(name)
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await page.screenshot({ path: `${FOLDER}/web-${name}-${width}-${scheme}.png`, fullPage: true })
    expect(await overflow(page)).toBe(0)
    expect(await violations(page)).toEqual([])
    expect(await moving(page)).toEqual([])
    expect(await page.evaluate('window.ran')).toBeUndefined()
    expect(problems).toEqual([])
    await page.close()
  },
)

test.each(PAGE_NAMES.flatMap((name) => WIDTHS.map((width) => ({ name, width }))))(
  '$name, $width px: Tab reaches every control, which is marked and not behind anything',
  async ({ name, width }) => {
    const { page } = await open(name)
    await page.setViewportSize({ width, height: 740 })
    expect(await missedByKeyboard(page)).toEqual([])
    await page.close()
  },
)

test('the keyboard alone at 1,280 px searches, filters, opens a service and copies its code', async () => {
  const { page, problems } = await web.shown('/')
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
  const isSearching = async () => {
    await page.keyboard.press('/')
    return page.evaluate("document.activeElement.matches('input[type=search]')")
  }
  // The field listens a moment after the page is hydrated.
  await expect.poll(isSearching, { timeout: 150_000 }).toBe(true)
  await page.keyboard.type('statistics')
  await page.waitForURL(/search=statistics/)
  await tabTo(page, '.more-chips input')
  await page.keyboard.press('Space')
  await page.locator('.chip.later').first().waitFor()
  await tabTo(page, 'input[name=price_type]')
  await page.keyboard.press('ArrowDown')
  await page.waitForURL(/price_type=fixed/)
  await tabTo(page, 'li.service a')
  await page.keyboard.press('Enter')
  await page.waitForURL(/statistics-of-a-text/)
  await tabTo(page, 'input[name=hire]')
  await page.keyboard.press('ArrowRight')
  await page.locator('.p-sdk').waitFor()
  await tabTo(page, '.p-sdk button')
  expect(problems).toEqual([])
  await page.close()
})

test('link previews: pictures of the shop, a service, an agent and a bounty', async () => {
  const { agent, hostileService, bounty } = web
  for (const of of [
    '',
    `/s/${agent}/statistics-of-a-text`,
    `/s/${agent}/${hostileService}`,
    `/a/${agent}`,
    `/b/${bounty}`,
  ]) {
    const { statusCode, rawPayload } = await web.pages.inject(`/picture${of}`)
    expect({ of, statusCode }).toEqual({ of, statusCode: 200 })
    writeFileSync(`${FOLDER}/picture${of.replaceAll('/', '-').slice(0, 40)}.png`, rawPayload)
  }
})
