import { MarketError } from './errors.ts'
import type { Order } from './generated/types.ts'
import { reportError, type SellOptions } from './sell-options.ts'
import { sleep } from './send.ts'

/** Something that is to be done now for an order. */
export interface Task {
  readonly order: Order
  /** The result of one version is not sent for another one, for example of an earlier revision. */
  readonly version: string
  /** Calls the seller's function. It can cost money, so it is not repeated when only `send` fails. */
  readonly make: () => Promise<unknown>
  readonly send: (result: unknown) => Promise<void>
}

/** Reads what is to be done for a key; undefined when nothing is. */
export type ReadTask = (key: string) => Promise<Task | undefined>

/** The same result would be rejected again. */
const NOT_ACCEPTABLE: ReadonlySet<number> = new Set([400, 413])
/** Another process, or this one before a crash, sent another result; or the order was cancelled. */
const OUTDATED: ReadonlySet<number> = new Set([409, 422])
const CONCURRENCY = 4
const FIRST_WAIT_SECONDS = 1
const MAX_WAIT_SECONDS = 60

/** Does the task of each key once at a time, and repeats it until it is done. */
export class TaskRunner {
  readonly #read: ReadTask
  readonly #options: Pick<SellOptions, 'onError' | 'concurrency'>
  readonly #signal: AbortSignal
  readonly #running = new Map<string, Promise<void>>()
  /** Keys that were added while they were worked on. */
  readonly #again = new Set<string>()
  /** What was made and is not sent yet, per key. */
  readonly #results = new Map<string, { readonly version: string; readonly result: unknown }>()
  /** Keys without a result that the API accepts. They wait for an event. */
  readonly #rejected = new Set<string>()
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(read: ReadTask, options: Pick<SellOptions, 'onError' | 'concurrency'>, signal: AbortSignal) {
    this.#read = read
    this.#options = options
    this.#signal = signal
    this.#free = options.concurrency ?? CONCURRENCY
  }

  /** Works on a key in the background, after an event. */
  add(key: string): void {
    if (this.#running.has(key)) {
      this.#again.add(key)
      return
    }
    this.#rejected.delete(key)
    const working = this.#repeatUntilDone(key).finally(() => {
      this.#running.delete(key)
      if (this.#again.delete(key) && !this.#signal.aborted) this.add(key)
    })
    this.#running.set(key, working)
  }

  /** The same for a key that was found by reading, unless it is worked on or waits for an event. */
  addFound(key: string): void {
    if (!this.#running.has(key) && !this.#rejected.has(key)) this.add(key)
  }

  /** Resolves when nothing is being worked on. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Never rejects. */
  async #repeatUntilDone(key: string): Promise<void> {
    for (let failures = 0; !this.#signal.aborted; failures++) {
      let task: Task | undefined
      try {
        task = await this.#read(key)
        if (task !== undefined) await this.#do(key, task)
        this.#results.delete(key)
        return
      } catch (error) {
        if (this.#signal.aborted) return
        reportError(this.#options, error, task?.order)
        if (this.#rejected.has(key)) return
      }
      const wait = Math.min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** failures)
      await sleep(wait * 1_000, this.#signal).catch(() => undefined)
    }
  }

  async #do(key: string, task: Task): Promise<void> {
    const { contested_at } = task.order
    if (contested_at !== null)
      throw new Error(`Its payment is contested since ${contested_at}. It is tried again later.`)
    await this.#acquireSlot()
    try {
      if (this.#signal.aborted) return
      const result = await this.#resultOf(key, task)
      // Nothing is to be sent, and the next read would find the same task.
      if (result === undefined) this.#rejected.add(key)
      else await this.#send(key, task, result)
    } finally {
      this.#releaseSlot()
    }
  }

  /** The result of this version: the one that is not sent yet, or a new one. */
  async #resultOf(key: string, { version, make }: Task): Promise<unknown> {
    const made = this.#results.get(key)
    if (made?.version === version) return made.result
    const result = await make()
    // fix: result-kept-for-retry
    this.#results.set(key, { version, result })
    return result
  }

  async #send(key: string, task: Task, result: unknown): Promise<void> {
    try {
      await task.send(result)
    } catch (error) {
      const status = error instanceof MarketError ? error.status : undefined
      if (status !== undefined && NOT_ACCEPTABLE.has(status)) {
        this.#rejected.add(key)
        this.#results.delete(key)
      }
      if (status === undefined || !OUTDATED.has(status)) throw error
      if ((await this.#read(key))?.version === task.version) throw error
    }
  }

  async #acquireSlot(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #releaseSlot(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
