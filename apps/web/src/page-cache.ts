import { createHash } from 'node:crypto'
import type { Compressible } from './compress.ts'
import type { RenderedPage } from './page.ts'

export interface CachedPage extends RenderedPage, Compressible {
  readonly etag: string
}

interface Entry {
  /** The last good page. */
  page?: CachedPage
  drawnAt?: number
  /** The page that is being drawn now. */
  drawing?: Promise<CachedPage>
}

interface PageCacheSettings {
  readonly freshMs: number
  readonly max: number
  /** Milliseconds since any moment. */
  readonly now: () => number
}

/** How many times its fresh time a page may be old when it is sent while a newer one is drawn. */
const STALE_TIMES = 5

/**
 * Keeps drawn pages for some seconds. Pages are drawn without cookies, so one is right for every visitor. Visitors who ask
 * for the same page while it is being drawn wait for that one. Only good pages are shared: what the API rejects for one
 * address it may return to another.
 */
export class PageCache {
  readonly #freshMs: number
  readonly #max: number
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()

  constructor({ freshMs, max, now }: PageCacheSettings) {
    this.#freshMs = freshMs
    this.#max = max
    this.#now = now
  }

  async get(key: string, draw: () => Promise<RenderedPage>): Promise<CachedPage> {
    const { page, drawnAt = 0, drawing } = this.#entries.get(key) ?? {}
    const age = this.#now() - drawnAt
    if (page !== undefined && age < this.#freshMs) return page
    if (page?.status === 200 && age < this.#freshMs * STALE_TIMES) {
      // The next visitor draws again when this fails.
      if (drawing === undefined) this.#draw(key, draw).catch(() => undefined)
      return page
    }
    if (drawing === undefined) return this.#draw(key, draw)
    const shared = await drawing.catch(() => undefined)
    return shared !== undefined && isGood(shared) ? shared : this.#draw(key, draw)
  }

  async #draw(key: string, draw: () => Promise<RenderedPage>): Promise<CachedPage> {
    const drawing = draw().then(withTag)
    this.#store(key, { ...this.#entries.get(key), drawing })
    const page = await drawing.catch((error: unknown) => {
      this.#end(key, drawing)
      throw error
    })
    this.#end(key, drawing)
    if (isGood(page)) this.#store(key, { page, drawnAt: this.#now() })
    return page
  }

  #end(key: string, drawing: Promise<CachedPage>): void {
    const entry = this.#entries.get(key)
    if (entry?.drawing !== drawing) return
    if (entry.page === undefined) this.#entries.delete(key)
    else delete entry.drawing
  }

  #store(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest)
  }
}

const isGood = ({ status, isComplete }: RenderedPage): boolean => status < 500 && isComplete

const withTag = (page: RenderedPage): CachedPage => ({
  ...page,
  // Weak: compressed bytes are others, and a page that says the same has another time.
  etag: `W/"${createHash('sha256')
    .update(page.content ?? page.html)
    .digest('base64url')
    .slice(0, 22)}"`,
})
