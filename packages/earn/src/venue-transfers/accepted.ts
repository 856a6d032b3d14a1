import type { VenueMovement } from '@market/core/ports/venue'
import type { Usdc } from '@market/kernel/money'
import type { VenueTransfer } from './venue-transfer.ts'

/** What two operators say that a held venue transfer moved. */
export interface Accepted {
  /** The vault's shares that it brought, or that were burned. */
  readonly venueShares: bigint
  /** Of a recall: the USDC that arrived in the treasury. */
  readonly assets: Usdc
}

/** What the worker reads itself before it believes them. */
interface Facts {
  /** The vault's shares that the wallet holds. */
  readonly held: bigint
  /** Those of them that belong to the pool or to deposits that get shares for them. */
  readonly known: bigint
  readonly moved: VenueMovement
}

/**
 * Why what operators accepted cannot be; undefined when wallet and chain allow it. Afterwards the wallet holds at least what the pool
 * counts: otherwise a wrong number would be a loss of all depositors, and the gain of one.
 */
export function acceptedProblem(
  { kind, askedShares }: Pick<VenueTransfer, 'kind' | 'askedShares'>,
  { venueShares, assets }: Accepted,
  { held, known, moved }: Facts,
): string | undefined {
  if (kind === 'deploy') {
    const more = held > known ? held - known : 0n
    if (venueShares > more) return `the wallet has only ${more} shares of the vault that are not counted yet`
    if (moved.shares > 0n && venueShares > moved.shares)
      return `the transaction brought only ${moved.shares} shares of the vault`
    return undefined
  }
  if (assets !== moved.arrived) return `the transaction paid ${moved.arrived} micro-USDC to the treasury`
  if (venueShares === 0n && assets > 0n) return 'USDC arrived, so shares of the vault were burned'
  const asked = askedShares ?? 0n
  const missing = known + asked > held ? known + asked - held : 0n
  const gone = missing > -moved.shares ? missing : -moved.shares
  const [least, most] = [gone < asked ? gone : asked, gone > asked ? gone : asked]
  if (venueShares < least) return `${gone} shares of the vault left the wallet`
  if (venueShares > most) return `only ${most} shares of the vault can have been burned`
  return undefined
}
