interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  readonly host: string
}

export interface Page {
  readonly url: URL
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

/** A browser without a screen: cookies by host and path, redirects, and forms. */
export class FetchBrowser {
  cookies: Cookie[] = []

  /** Follows redirects until a page, or until the address begins with `stopAt`. */
  async open(address: URL, init: RequestInit = {}, stopAt?: string): Promise<Page> {
    let url = address
    let next = init
    for (let hop = 0; hop < 20; hop++) {
      if (stopAt !== undefined && url.href.startsWith(stopAt))
        return { url, status: 0, text: '', headers: new Headers() }
      const response = await this.#send(url, next)
      const location = response.headers.get('location')
      const text = await response.text()
      if (location === null) return { url, status: response.status, text, headers: response.headers }
      url = new URL(location, url)
      next = {}
    }
    throw new Error(`too many redirects: ${url}`)
  }

  /** Sends the form of a page, with these fields beside its hidden ones. */
  submit({ url, text }: Page, fields: Readonly<Record<string, string>>, stopAt?: string): Promise<Page> {
    const [form] = /<form\b[^>]*\bmethod="post"[^>]*>/.exec(text) ?? []
    if (form === undefined) throw new Error(`no form at ${url}: ${text.slice(0, 500)}`)
    const hidden = [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name ?? '', value ?? ''],
    )
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields })
    const headers = { origin: url.origin, 'sec-fetch-site': 'same-origin' }
    const [, action = url.href] = /\baction="([^"]*)"/.exec(form) ?? []
    return this.open(new URL(action, url), { method: 'POST', body, headers }, stopAt)
  }

  async #send(url: URL, init: RequestInit): Promise<Response> {
    const cookie = this.cookies
      .filter(({ host, path }) => host === url.hostname && isUnder(url.pathname, path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
    const headers = { ...(init.headers as Record<string, string>), ...(cookie !== '' && { cookie }) }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) this.#store(line, url.hostname)
    return response
  }

  #store(line: string, host: string): void {
    const [pair = '', ...attributes] = line.split(/;\s*/)
    const at = pair.indexOf('=')
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
    const given = new Map(
      attributes.map((one) => one.split('=')).map(([key = '', text = '']) => [key.toLowerCase(), text]),
    )
    const path = given.get('path') ?? '/'
    this.cookies = this.cookies.filter((one) => one.name !== name || one.path !== path || one.host !== host)
    if (value !== '') this.cookies.push({ name, value, path, host })
  }
}

const isUnder = (path: string, cookiePath: string): boolean =>
  path === cookiePath || path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
