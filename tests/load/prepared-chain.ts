import { randomBytes } from 'node:crypto'
import type { Chain, Observation, TransferQuery } from '@market/core/ports/chain'
import { type Usdc, usdc } from '@market/kernel/money'

const never = () => Promise.reject(new Error('a bench of orders asks a chain for transfers only'))

/**
 * Stands in for a chain where our own work and the database's is measured, not the chain's: it knows only transfers that
 * were put into it beforehand, and shows each at once, confirmed and final.
 */
export class PreparedChain implements Chain {
  readonly network = 'base-mainnet'
  readonly treasury = '0x00000000000000000000000000000000000000aa'
  readonly minPayout = usdc(50_000n)
  readonly usdc = '0x00000000000000000000000000000000000000bb'
  private readonly prepared = new Map<string, { payer: string; amount: Usdc }>()

  /** A transfer that is there before its order is paid. */
  prepare(payer: string, amount: Usdc): string {
    const reference = `0x${randomBytes(32).toString('hex')}`
    this.prepared.set(reference, { payer, amount })
    return reference
  }

  /** Told once, so that a long run holds no more than is under way. */
  async findTransfer({ reference }: TransferQuery): Promise<Observation> {
    const found = this.prepared.get(reference)
    if (found === undefined) return { kind: 'pending', reason: 'unknown' }
    this.prepared.delete(reference)
    const block = { height: 1n, hash: reference }
    return {
      kind: 'ok',
      transfer: { reference, index: 0, ...found, at: new Date(), block, final: true, attachedData: null },
    }
  }

  checkTransfer = never
  startingBlock = never
  finalMovementsAfter = never
  displayAddress = (address: string): string => address
  heights = never
  balanceOf = never
  checkNodes = never
}
