import { randomBytes } from 'node:crypto'
import { agreeOnTransfer, type TransferReport } from '@market/chains/nodes/providers'
import type {
  Chain,
  FinalBlock,
  FinalReading,
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
  /** Who paid how much in the one transaction, in its order. */
  readonly parts: readonly Part[]
}

type Part = readonly [payer: string, amount: bigint]

interface Block {
  readonly hash: string
  readonly at: Date
  readonly payments: readonly Payment[]
}

const name = () => `0x${randomBytes(32).toString('hex')}`
const sum = ({ parts }: Payment): bigint => parts.reduce((all, [, part]) => all + part, 0n)

/** A chain on paper: it keeps what the port promises, and whatever it promises not, it does. */
export class InMemoryChain implements Chain {
  readonly network = 'base-mainnet'
  readonly treasury = 'treasury'
  readonly minPayout = usdc(50_000n)
  readonly usdc = 'usdc'
  isUnavailable = false
  /** How many blocks must confirm a payment that was read. A lookup takes one without. */
  required = 1
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
    const changed = (part: bigint) => (part + change > 0n ? part + change : part)
    this.mine([{ reference, parts: parts.map(([payer, part]) => [payer, changed(part)]) }])
  }

  async findTransfer(query: TransferQuery): Promise<Observation> {
    this.answer()
    const found = this.forcedObservation ?? this.observe(query)
    if (found.kind !== 'ok') return found
    const { transfer } = found
    return { ...found, transfer: { ...transfer, final: transfer.final && this.providers === 1 } }
  }

  async checkTransfer(recorded: RecordedTransfer) {
    this.answer()
    const truth = this.report(recorded)
    const lie = this.forcedObservation && { observation: this.forcedObservation, isAbsent: true }
    const responses = Array.from({ length: this.providers }, (_, n) => ({
      provider: `provider ${n + 1}`,
      response: n === 0 ? (lie ?? truth) : truth,
    }))
    return agreeOnTransfer(this.network, { responses, failures: [] }, this.providers)
  }

  private report({ reference, index, block, payer, amount }: RecordedTransfer): TransferReport {
    const height = this.heightOf(reference)
    if (height === undefined) {
      const observation = { kind: 'pending', reason: 'unknown' } as const
      return { observation, isAbsent: BigInt(this.finalHeight) >= block.height }
    }
    const transfer = this.transfersIn(reference, height).find((one) => one.index === index)
    const isSame = transfer?.amount === amount && transfer.payer === payer
    const observation: Observation =
      transfer === undefined ? { kind: 'rejected', reason: 'no_transfer' } : { kind: 'ok', transfer }
    return { observation, isAbsent: this.finalHeight >= height && !isSame }
  }

  private transfersIn(reference: string, height: number): IncomingTransfer[] {
    const payment = this.blocks[height]?.payments.find((one) => one.reference === reference)
    return (payment?.parts ?? []).map((_, index) => this.show(payment as Payment, height, index))
  }

  private heightOf(reference: string): number | undefined {
    const height = this.blocks.findIndex(({ payments }) =>
      payments.some((one) => one.reference === reference),
    )
    return height < 0 ? undefined : height
  }

  private observe({ reference, payers, minAmount, index, used = [] }: TransferQuery): Observation {
    const height = this.heightOf(reference)
    if (height === undefined) return { kind: 'pending', reason: 'unknown' }
    const all = this.transfersIn(reference, height).filter(
      (one) => index === undefined || one.index === index,
    )
    if (payers === undefined && new Set(all.map(({ payer }) => payer)).size > 1)
      return { kind: 'rejected', reason: 'ambiguous_payer' }
    const own = all.filter(({ payer }) => payers?.includes(payer ?? '') ?? true)
    const enough = own.filter(({ amount }) => amount >= minAmount)
    const transfer = enough.find((one) => !used.includes(one.index)) ?? enough[0]
    if (transfer !== undefined) return { kind: 'ok', transfer, ...(all.length > 1 && { hasOthers: true }) }
    return { kind: 'rejected', reason: own.length === 0 ? 'wrong_payer' : 'underpaid' }
  }

  private blockAt(height: number): FinalBlock {
    return { height: BigInt(height), hash: this.blocks[height]?.hash ?? '' }
  }

  private incomingIn(from: number, to: number): IncomingTransfer[] {
    return this.blocks
      .slice(from, to + 1)
      .flatMap(({ payments }, n) =>
        payments.flatMap(({ reference }) => this.transfersIn(reference, from + n)),
      )
  }

  async startingBlock(): Promise<FinalBlock> {
    return this.blockAt(0)
  }

  /** Whole blocks. Nothing ever leaves the treasury on paper. */
  async movementsAfter(final: FinalBlock, position: string | null, limit: number) {
    this.answer()
    const [height = String(final.height), hash = final.hash] = position?.split(':') ?? []
    const isReplaced = this.blocks[Number(height)]?.hash !== hash
    const at = Math.max(Number(final.height), isReplaced ? Number(final.height) : Number(height))
    const incoming: IncomingTransfer[] = []
    let to = at
    while (to < this.blocks.length - 1 && incoming.length < limit) {
      to++
      incoming.push(...this.incomingIn(to, to).map((one) => ({ ...one, final: false })))
    }
    const reached = `${to}:${this.blocks[to]?.hash}`
    return {
      incoming,
      outgoing: [],
      position: reached,
      isEnd: to === this.blocks.length - 1,
      isReplaced,
      height: BigInt(to),
    }
  }

  async finalMovementsAfter({ height }: FinalBlock): Promise<FinalReading> {
    this.answer()
    const from = Number(height) + 1
    if (this.finalHeight < from) return { agreed: undefined, isEnd: true, disagreeing: [] }
    if (this.forcedObservation !== undefined && this.providers > 1)
      return { agreed: undefined, isEnd: false, disagreeing: ['provider 1', 'provider 2'] }
    const to = this.blockAt(this.finalHeight)
    const incoming = this.incomingIn(from, this.finalHeight)
    const change = incoming.reduce((all, { amount }) => all + amount, 0n)
    const treasuryHeld = usdc(
      this.incomingIn(0, this.finalHeight).reduce((all, { amount }) => all + amount, 0n),
    )
    const agreed = { incoming, outgoing: [], to, change, treasuryHeld }
    return { agreed, isEnd: true, disagreeing: [] }
  }

  displayAddress(address: string): string {
    return address
  }

  async heights() {
    this.answer()
    return { final: 0n, horizon: 0n }
  }

  async balanceOf() {
    return { final: usdc(this.holds), latest: usdc(this.holds) }
  }

  async checkNodes() {}

  confirmationsFor = () => this.required

  private answer(): void {
    if (this.isUnavailable) throw unavailable('away')
  }

  private show({ reference, parts }: Payment, height: number, index: number): IncomingTransfer {
    const [payer, amount] = parts[index] ?? ['', 0n]
    const { hash = '', at = new Date() } = this.blocks[height] ?? {}
    const final = height <= this.finalHeight
    const block = { height: BigInt(height), hash }
    return { reference, index, amount: usdc(amount), payer, at, block, final, attachedData: null }
  }
}

export const newPayment = (parts: readonly Part[]): Payment => ({ reference: name(), parts })
