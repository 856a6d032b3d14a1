import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOSTILE, SCRIPT } from '../files/hostile-files.ts'
import { someAddress } from '../support/client.ts'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { BOUNDARY, PNG, uploadFile } from '../support/uploads.ts'

/** Hostile files that are accepted, opened and embedded by a page of another origin: no script in them runs. */

let market: Market
let browser: Browser
let pageUrl: string
let apiKey: string

const other = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html')
  response.end('<!doctype html><title>Other</title><body>')
})

beforeAll(async () => {
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  pageUrl = `http://localhost:${(other.address() as AddressInfo).port}/`
  market = await startMarket()
  apiKey = (await makeAgent(market)).apiKey
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
})
afterAll(async () => {
  await browser.close()
  await market.stop()
  other.close()
  other.closeAllConnections()
})

async function store(body: Buffer): Promise<string> {
  const response = await fetch(`${market.url}/api/upload`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      'x-forwarded-for': someAddress(),
    },
    body: body as Uint8Array<ArrayBuffer>,
  })
  const { data } = (await response.json()) as { data: { url: string } }
  return market.fileAt(data.url)
}

/** A page that records what files tell it, and every dialog. */
async function openPage(): Promise<{ page: Page; said: string[] }> {
  const context = await browser.newContext({ acceptDownloads: true })
  context.setDefaultTimeout(150_000)
  const said: string[] = []
  context.on('page', (page) => page.on('dialog', (dialog) => void dialog.dismiss()))
  const page = await context.newPage()
  await page.exposeFunction('report', (text: string) => said.push(text))
  await page.goto(pageUrl)
  await page.evaluate(`addEventListener('message', ({ data }) => report(String(data)))`)
  return { page, said }
}

/** Embeds the file in every way that could run it, and resolves when those have loaded or failed that always do. */
const EMBED = `async (url) => {
  const done = (element) => new Promise((resolve) => {
    element.onload = element.onerror = resolve
    document.body.append(element)
  })
  const make = (tag, set) => Object.assign(document.createElement(tag), set)
  document.body.append(make('object', { data: url }), make('embed', { src: url }))
  await Promise.all([
    done(make('script', { src: url })),
    done(make('script', { src: url, type: 'module' })),
    done(make('img', { src: url })),
    done(make('link', { rel: 'stylesheet', href: url })),
  ])
}`

/** A frame with a download never loads, but starts the download. */
async function frame(page: Page, url: string, isInline: boolean): Promise<void> {
  const download = isInline ? undefined : page.waitForEvent('download')
  const loads = page.evaluate(`new Promise((resolve) => {
    const frame = Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(url)}, onload: () => resolve() })
    document.body.append(frame)
    if (!${isInline}) resolve()
  })`)
  await Promise.all([loads, download])
}

const isDownload = (error: unknown) => /Download is starting|ERR_ABORTED/.test(String(error))

test('the script of these tests does run on a page that serves it', async () => {
  const { page, said } = await openPage()
  await page.setContent(
    `<script>addEventListener('message', ({ data }) => report(String(data)))</script><iframe srcdoc="<script>${SCRIPT}</script>"></iframe>`,
  )
  await expect.poll(() => said, { timeout: 150_000 }).toContain('ran')
  await page.context().close()
})

test.each(HOSTILE.filter(({ storedAs }) => storedAs))(
  '$what: no script runs (asvs V5.3)',
  async ({ body, storedAs }) => {
    const url = await store(body)
    const { page, said } = await openPage()
    const isInline = storedAs?.mediaType.startsWith('image/') === true
    await page.evaluate(`(${EMBED})(${JSON.stringify(url)})`)
    await frame(page, url, isInline)
    expect(await page.title()).toBe('Other')

    const direct = await page.context().newPage()
    const opening = direct.goto(url).then(
      () => 'shown',
      (error) => (isDownload(error) ? 'downloaded' : String(error)),
    )
    expect(await opening).toBe(isInline ? 'shown' : 'downloaded')
    expect(await direct.title()).not.toBe('ran')
    expect(said).toEqual([])
    await page.context().close()
  },
)

test('a picture is shown to a page of another origin', async () => {
  const url = market.fileAt(
    (await uploadFile(market, { bearer: apiKey }, PNG as Uint8Array<ArrayBuffer>)).url,
  )
  const { page } = await openPage()
  const width = await page.evaluate(`new Promise((resolve, reject) => {
    const image = new Image()
    image.onload = () => resolve(image.naturalWidth)
    image.onerror = reject
    image.src = ${JSON.stringify(url)}
  })`)
  expect(width).toBe(1)
  await page.context().close()
})
