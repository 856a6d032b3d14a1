import {
  divide,
  firstRatio,
  minted,
  mintProblem,
  type Ratio,
  ratioAfterLoss,
  recallParts,
  unredeemed,
  vaultSharesOf,
} from '@market/earn/pools'
import { usdc } from '@market/kernel/money'
import { least, type Receipt, sum, type Vault } from './vault.ts'

const USD = 1_000_000n

interface Withdrawal {
  readonly holder: string
  /** Shares for which the vault was not asked yet. */
  open: bigint
}

interface Recall {
  readonly asked: bigint
  readonly parts: readonly { readonly withdrawal: Withdrawal; readonly shares: bigint }[]
  /** What it really did, while only the chain knows it. */
  inDoubt?: Receipt
}

/** What happens, for an observer that keeps its own books. */
export interface Observer {
  onMinted(received: bigint, parts: readonly { readonly holder: string; readonly amount: bigint }[]): void
  onAsked(holder: string, shares: bigint, held: bigint): void
  /** Of `whole`, which is all that is behind the open withdrawals. The holders: one for each withdrawal that has a part. */
  onRecall(vaultShares: bigint, whole: bigint, holders: readonly string[]): void
  onReverted(): void
  onPaid(assets: bigint): void
  /** Vault shares are gone without a payment: only these are left for all holders. */
  onSeized(left: bigint): void
  /** A held recall took only a part. */
  onPartlyBurned(burned: bigint, asked: bigint): void
}

/** The commands of Earn without a database: the rules decide, and this only keeps what they say. */
export class Pool {
  /** Of our own receipts, without those of a recall under way. */
  vaultShares = 0n
  /** What the wallet holds: also those of a recall, and rests that are nobody's. */
  held = 0n
  ratio: Ratio | null = null
  readonly positions = new Map<string, bigint>()
  withdrawals: Withdrawal[] = []
  recall: Recall | undefined
  readonly paid = new Map<string, bigint>()
  waiting: { readonly holder: string; readonly amount: bigint }[] = []
  readonly vault: Vault
  readonly observer: Observer

  constructor(vault: Vault, observer: Observer) {
    this.vault = vault
    this.observer = observer
  }

  get shares(): bigint {
    return sum(this.positions.values()) + sum(this.withdrawals.map(({ open }) => open))
  }

  get inDoubt(): Receipt | undefined {
    return this.recall?.inDoubt
  }

  vaultSharesOf = (shares: bigint): bigint => vaultSharesOf(shares, this.ratio)
  valueOf = (shares: bigint): bigint => this.vault.valueOf(this.vaultSharesOf(shares))

  /** What the vault paid a holder, and what the holder's shares are worth. */
  worth(holder: string): bigint {
    const parts = this.recall?.parts ?? []
    const taken = sum(parts.map(({ shares }) => shares))
    const own = sum(
      parts.filter(({ withdrawal }) => withdrawal.holder === holder).map(({ shares }) => shares),
    )
    const behind = taken === 0n ? 0n : ((this.recall?.asked ?? 0n) * own) / taken
    const open = sum(this.withdrawals.filter((one) => one.holder === holder).map((one) => one.open))
    const shares = (this.positions.get(holder) ?? 0n) + open
    return (this.paid.get(holder) ?? 0n) + this.vault.valueOf(this.vaultSharesOf(shares) + behind)
  }

  deposit(holder: string, amount: bigint): void {
    this.waiting.push({ holder, amount })
  }

  /** Moves what waits to the vault and shares the receipt; what would lose too much is refunded. */
  deploy(): void {
    if (this.recall !== undefined) return
    const isEmpty = this.shares === 0n
    const ratio = isEmpty ? null : this.ratio
    // A value of many vault shares says what the smallest unit is worth.
    const many = this.vaultShares > 0n ? this.vaultShares : 10n ** 18n
    const price = { value: usdc(this.vault.valueOf(many)), vaultShares: many }
    const batch = this.waiting.filter(({ amount }) => mintProblem(usdc(amount), ratio, price) === undefined)
    this.waiting = []
    const total = sum(batch.map(({ amount }) => amount))
    if (total < USD) return
    const { shares: received } = this.vault.deposit(total)
    if (received === 0n) return
    this.held += received
    if (isEmpty) this.vaultShares = 0n
    this.vaultShares += received
    this.ratio = ratio ?? firstRatio(received, total)
    for (const { holder, amount } of batch) {
      const shares = minted(received, amount, total, this.ratio)
      this.positions.set(holder, (this.positions.get(holder) ?? 0n) + shares)
    }
    this.observer.onMinted(received, batch)
  }

  /** Shares leave the position at once, always. */
  ask(holder: string, wanted: bigint | 'all'): void {
    const held = this.positions.get(holder) ?? 0n
    const shares = wanted === 'all' ? held : wanted
    if (shares <= 0n || shares > held) return
    this.positions.set(holder, held - shares)
    this.observer.onAsked(holder, shares, held)
    this.withdrawals.push({ holder, open: shares })
  }

  beginRecall(): void {
    const { ratio } = this
    const open = this.withdrawals.filter((one) => one.open > 0n)
    const wanted = sum(open.map((one) => one.open))
    if (this.recall !== undefined || wanted === 0n || ratio === null) return
    const whole = this.vaultSharesOf(wanted)
    const asked = this.vault.redeemable(whole)
    if (asked === 0n || (asked < whole && this.vault.valueOf(asked) < USD)) return
    const shares = recallParts(
      open.map((one) => one.open),
      { redeemed: asked, whole },
      ratio,
    )
    const parts = open.map((withdrawal, n) => ({ withdrawal, shares: shares[n] ?? 0n }))
    for (const { withdrawal, shares } of parts) withdrawal.open -= shares
    this.vaultShares -= asked
    this.recall = { asked, parts }
    this.observer.onRecall(
      asked,
      whole,
      parts.map(({ withdrawal }) => withdrawal.holder),
    )
  }

  /** The transaction is final. A fault is what a vault must not do: its receipt is not what was asked for. */
  endRecall(fault?: 'unreadable' | 'burned_fewer' | 'burned_more'): void {
    const { recall } = this
    if (recall === undefined || recall.inDoubt !== undefined) return
    const receipt = this.vault.redeem(fault === 'burned_fewer' ? recall.asked / 3n : recall.asked)
    if (receipt === undefined) {
      this.returnShares(recall)
      return
    }
    this.held -= receipt.shares
    if (fault === undefined) {
      this.pay(recall, receipt)
      return
    }
    const more = fault === 'burned_more' ? this.held / 5n : 0n
    this.vault.supply -= more
    this.held -= more
    recall.inDoubt = { ...receipt, shares: receipt.shares + more }
  }

  acceptHeld(): void {
    if (this.recall?.inDoubt !== undefined) this.pay(this.recall, this.recall.inDoubt)
    if (this.recall === undefined) this.bearLoss()
  }

  private returnShares({ asked, parts }: Recall): void {
    for (const { withdrawal, shares } of parts) withdrawal.open += shares
    this.vaultShares += asked
    this.recall = undefined
    this.observer.onReverted()
  }

  /** What was not burned stays shares; what the vault paid belongs to the withdrawals of the recall. */
  private pay({ asked, parts }: Recall, { assets, shares: redeemed }: Receipt): void {
    const taken = parts.map(({ shares }) => shares)
    const back = unredeemed(taken, { asked, redeemed })
    if (redeemed < asked) this.observer.onPartlyBurned(redeemed, asked)
    const amounts = divide(
      assets,
      taken.map((shares, n) => shares - (back[n] ?? 0n)),
    )
    for (const [n, { withdrawal }] of parts.entries()) {
      withdrawal.open += back[n] ?? 0n
      this.paid.set(withdrawal.holder, (this.paid.get(withdrawal.holder) ?? 0n) + (amounts[n] ?? 0n))
    }
    this.vaultShares += asked - least(redeemed, asked)
    this.withdrawals = this.withdrawals.filter(({ open }) => open > 0n)
    this.recall = undefined
    this.observer.onPaid(assets)
  }

  /** Called when the wallet holds fewer vault shares than the receipts say. */
  bearLoss(): void {
    if (this.held >= this.vaultShares) return
    this.ratio = ratioAfterLoss(this.held, this.shares, this.ratio)
    this.vaultShares = this.held
    this.observer.onSeized(this.held)
  }

  /** One round of the worker. */
  work(): void {
    this.deploy()
    this.beginRecall()
    this.endRecall()
  }
}
