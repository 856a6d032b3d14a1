import { FetchBrowser } from '../mcp/fetch-browser.ts'

/** Opens the page that the program names, confirms its code and signs in. */
export async function confirmLogin(pageUrl: string, userId: string): Promise<void> {
  const browser = new FetchBrowser()
  const filledIn = await browser.open(new URL(pageUrl))
  const code = await browser.submit(filledIn, {})
  const signIn = await browser.submit(code, {})
  const { text } = await browser.submit(signIn, { sub: userId })
  if (!text.includes('You are signed in')) throw new Error(`the login did not succeed: ${text}`)
}
