import { FetchBrowser } from '../mcp/fetch-browser.ts'

/** A user at a browser: opens the address, chooses the account and allows the program. */
const USER = 'user@example.com'

const browser = new FetchBrowser()
const login = await browser.open(new URL(process.argv[2] ?? ''))
const [, sub] = new RegExp(`value="([^"]+)">${USER}<`).exec(login.text) ?? []
if (sub === undefined) throw new Error(`${USER} is not on the page: ${login.text}`)
const consent = await browser.submit(login, { sub })
await browser.submit(consent, { decision: 'allow', agent: '' })
