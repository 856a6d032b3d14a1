import { randomBytes } from 'node:crypto'
import { agreeOnTransfer, type TransferReport } from '@market/chains/nodes/providers'
import type {
  Chain,
  IncomingTransfer,
  Observation,
  RecordedTransfer,
  TransferQuery,
} from '@market/core/ports/chain'
import { unavailable } from '@market/kernel/api-error'
import { usdc } from '@market/kernel/money'
import { testClock } from '@market/testing/clock'

export interface Payment {
  readonly reference: string
  /** Who paid how much in the one transaction. */
  readonly parts: ReadonlyMap<string, bigint>
}

interface Block {
  readonly hash: string
  readonly at: Date
  readonly payments: readonly Payment[]
}

const name = () => `0x${randomBytes(32).toString('hex')}`
const sum = ({ parts }: Payment): bigint => [...parts.values()].reduce((all, part) => all + part, 0n)

/** A chain on paper: it keeps what the port promises, and whatever it promises not, it does. */
export class InMemoryChain implements Chain {
  readonly network = 'base-mainnet'
  readonly treasury = 'treasury'
  readonly usdc = 'usdc'
  isUnavailable = false
  /** What one provider says instead of the truth, also that the final chain does not have the transfer. */
  forcedObservation: Observation | undefined
  /** How many providers there are. All of them must agree. */
  providers = 1
  readonly clock = testClock()
  private blocks: Block[] = [{ hash: name(), at: this.clock.now(), payments: [] }]
  private finalHeight = 0
  private dropped: Payment[] = []

  get holds(): bigint {
    return this.payments.reduce((all, payment) => all + sum(payment), 0n)
  }

  get payments(): readonly Payment[] {
    return this.blocks.flatMap(({ payments }) => payments)
  }

  mine(payments: readonly Payment[]): void {
    this.blocks.push({ hash: name(), at: this.clock.now(), payments })
  }

  finalize(lag: number): void {
    this.finalHeight = Math.max(this.finalHeight, this.blocks.length - 1 - lag)
  }

  /** Takes back the newest blocks, none of the final ones, and grows as many empty ones and one more. */
  reorg(depth: number): void {
    const kept = Math.max(this.finalHeight + 1, this.blocks.length - depth)
    const lost = this.blocks.splice(kept)
    this.dropped.push(...lost.flatMap(({ payments }) => payments))
    for (let n = 0; n <= lost.length; n++) this.mine([])
  }

  /** Mines one that was taken back, with as much from each as before or otherwise. */
  mineAgain(n: number, change: bigint): void {
    const [payment] = this.dropped.splice(n % Math.max(1, this.dropped.length), 1)
    if (payment === undefined) return
    const { reference, parts } = payment
    const more = change > 0n || parts.size === 1 ? change : 0n
    const changed = (part: bigint) => (part + more > 0n ? part + more : part)
    this.mine([{ reference, parts: new Map([...parts].map(([payer, part]) => [payer, changed(part)])) }])
  }

  async findTransfer(query: TransferQuery): Promise<Observation> {
    this.answer()
    const found = this.forcedObservation ?? this.observe(query)
    if (found.kind !== 'ok') return found
    const { transfer } = found
    return { kind: 'ok', transfer: { ...transfer, final: transfer.final && this.providers === 1 } }
  }

  async checkTransfer(recorded: RecordedTransfer) {
    this.answer()
    const truth = this.report(recorded)
    const lie = this.forcedObservation && { observation: this.forcedObservation, total: null, isAbsent: true }
    const answers = Array.from({ length: this.providers }, (_, n) => ({
      provider: `provider ${n + 1}`,
      answer: n === 0 ? (lie ?? truth) : truth,
    }))
    return agreeOnTransfer(this.network, { answers, failures: [] }, this.providers)
  }

  private report({ reference, block, payer, amount }: RecordedTransfer): TransferReport {
    const whose = payer === null ? { severalPayers: true as const } : { payers: [payer] }
    const any = { minAmount: usdc(1n), notBefore: new Date(0), notAfter: new Date(0) }
    const observation = this.observe({ reference, ...any, ...whose })
    const height = this.heightOf(reference)
    if (height === undefined)
      return { observation, total: null, isAbsent: BigInt(this.finalHeight) >= block.height }
    const isSame = observation.kind === 'ok' && (amount === null || observation.transfer.amount === amount)
    const payment = this.payments.find((one) => one.reference === reference)
    const total = payment === undefined ? null : sum(payment)
    return { observation, total, isAbsent: this.finalHeight >= height && !isSame }
  }

  private heightOf(reference: string): number | undefined {
    const height = this.blocks.findIndex(({ payments }) =>
      payments.some((one) => one.reference === reference),
    )
    return height < 0 ? undefined : height
  }

  private observe({ reference, payers, minAmount, severalPayers }: TransferQuery): Observation {
    const height = this.heightOf(reference) ?? -1
    const payment = this.blocks[height]?.payments.find((one) => one.reference === reference)
    if (payment === undefined) return { kind: 'pending', reason: 'unknown' }
    const parts = [...payment.parts].filter(([payer]) => payers?.includes(payer) ?? true)
    const [part] = parts
    if (part === undefined) return { kind: 'rejected', reason: 'wrong_payer' }
    if (severalPayers && parts.length > 1)
      return { kind: 'ok', transfer: this.show(payment, height, null, sum(payment)) }
    if (parts.length > 1) return { kind: 'rejected', reason: 'ambiguous_payer' }
    const [payer, amount] = part
    if (amount < minAmount) return { kind: 'rejected', reason: 'underpaid' }
    return { kind: 'ok', transfer: this.show(payment, height, payer, amount) }
  }

  /** Position: height, hash and how many payments of that block were emitted. */
  async transfersAfter(position: string | undefined, limit: number) {
    this.answer()
    const [height = '0', hash = this.blocks[0]?.hash, emitted = '0'] = position?.split(':') ?? []
    let at = Number(height)
    let index = Number(emitted)
    if (this.blocks[at]?.hash !== hash) {
      at = Math.min(this.finalHeight + 1, at)
      index = 0
    }
    const transfers: IncomingTransfer[] = []
    for (;;) {
      const block = this.blocks[at]
      const payment = block?.payments[index]
      if (payment !== undefined && transfers.length === limit) break
      if (payment !== undefined) {
        const [payer = null] = payment.parts.size === 1 ? payment.parts.keys() : []
        const seen = this.show(payment, at, payer, sum(payment))
        transfers.push({ ...seen, final: seen.final && this.providers === 1 })
        index++
      } else if (this.blocks[at + 1] === undefined) break
      else [at, index] = [at + 1, 0]
    }
    return { transfers, position: `${at}:${this.blocks[at]?.hash}:${index}` }
  }

  /** Nothing ever leaves the treasury on paper. */
  async outgoingTransfersAfter(position: string | undefined) {
    this.answer()
    return { outgoingTransfers: [], position: position ?? 'start' }
  }

  async heights() {
    this.answer()
    return { final: 0n, horizon: 0n }
  }

  async balanceOf() {
    const balance = { final: usdc(this.holds), latest: usdc(this.holds) }
    return { ...balance, byProvider: [{ provider: 'provider 1', ...balance }] }
  }

  async checkNodes() {}

  private answer(): void {
    if (this.isUnavailable) throw unavailable('away')
  }

  private show(
    { reference }: Payment,
    height: number,
    payer: string | null,
    amount: bigint,
  ): IncomingTransfer {
    const { hash = '', at = new Date() } = this.blocks[height] ?? {}
    const final = height <= this.finalHeight
    const block = { height: BigInt(height), hash }
    return { reference, amount: usdc(amount), payer, at, block, final, attachedData: null }
  }
}

export const newPayment = (parts: ReadonlyMap<string, bigint>): Payment => ({ reference: name(), parts })
