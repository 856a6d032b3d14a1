import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { VisitorCounts } from '../visitor-counts.ts'
import type { PictureFacts } from './facts.ts'
import type { PictureRequest, PictureResponse } from './worker.ts'

export interface Picture {
  readonly png: Buffer
  readonly etag: string
}

interface Waiting {
  readonly resolve: (picture: Picture) => void
  readonly reject: (error: Error) => void
}

/** About 30 MB. */
const MAX_STORED = 500
const WINDOW_MS = 60_000

interface Limits {
  /** New pictures of a visitor in a minute. */
  readonly newOfVisitor: number
  /** One is drawn at a time; the others wait. */
  readonly waiting: number
}
const LIMITS: Limits = { newOfVisitor: 30, waiting: 8 }

/**
 * Draws the pictures for link previews in a thread of its own. A picture is stored by what it shows, so that asking again,
 * or by another address, draws nothing. What is new is limited: in all, and by visitor.
 */
export class Pictures {
  readonly #file: URL
  readonly #limits: Limits
  readonly #stored = new Map<string, Promise<Picture>>()
  readonly #waiting = new Map<number, Waiting>()
  readonly #newOfVisitors: VisitorCounts
  #windowEnds = 0
  #worker: Worker | undefined
  #last = 0

  /** `file` is the thread of the build. */
  constructor(file: URL, limits = LIMITS) {
    this.#file = file
    this.#limits = limits
    this.#newOfVisitors = new VisitorCounts(limits.newOfVisitor)
  }

  /** Undefined when too many new pictures are asked for. */
  async get(facts: PictureFacts, address: string): Promise<Picture | undefined> {
    const key = createHash('sha256').update(JSON.stringify(facts)).digest('base64url')
    const stored = this.#stored.get(key)
    if (stored !== undefined) {
      // The least used picture is the first one.
      this.#stored.delete(key)
      this.#stored.set(key, stored)
      return stored
    }
    // fix: pictures-limited
    if (!this.#admits(address)) return undefined
    const drawing = this.#draw(facts)
    this.#stored.set(key, drawing)
    drawing.catch(() => this.#stored.delete(key))
    const [oldest] = this.#stored.keys()
    if (this.#stored.size > MAX_STORED && oldest !== undefined) this.#stored.delete(oldest)
    return drawing
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate()
  }

  #admits(address: string): boolean {
    const now = performance.now()
    if (now >= this.#windowEnds) {
      this.#newOfVisitors.clear()
      this.#windowEnds = now + WINDOW_MS
    }
    return this.#waiting.size < this.#limits.waiting && this.#newOfVisitors.add(address)
  }

  #draw(facts: PictureFacts): Promise<Picture> {
    const worker = this.#running()
    const id = ++this.#last
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      worker.postMessage({ id, facts } satisfies PictureRequest)
    })
  }

  /** The thread starts with the first picture, and again after it failed. */
  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(this.#file, { resourceLimits: { maxOldGenerationSizeMb: 128 } })
    worker.unref()
    worker.on('message', (response: PictureResponse) => {
      const waiting = this.#waiting.get(response.id)
      this.#waiting.delete(response.id)
      if ('png' in response) waiting?.resolve(withTag(Buffer.from(response.png)))
      else waiting?.reject(new Error(response.error))
    })
    const fail = (error: Error) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
    worker.on('error', fail)
    worker.on('exit', () => fail(new Error('The thread of the pictures has ended.')))
    this.#worker = worker
    return worker
  }
}

const withTag = (png: Buffer): Picture => ({
  png,
  etag: `"${createHash('sha256').update(png).digest('base64url').slice(0, 22)}"`,
})
