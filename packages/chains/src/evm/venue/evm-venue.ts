import type { EvmKeySigner } from '@market/core/ports/signer'
import type { Venue, VenueMarket } from '@market/core/ports/venue'
import { usdc as money } from '@market/kernel/money'
import { larger, smaller } from '../../bigints.ts'
import type { Node } from '../../nodes/node-pool.ts'
import { evmNodes } from '../evm-nodes.ts'
import { nonceRail } from '../nonce-rail.ts'
import { readBalance } from '../read-balance.ts'
import { addressKey, type EvmSettings } from '../settings.ts'
import { agreeOnVault } from './agree.ts'
import { depositProblemAt } from './deposit-problem.ts'
import { openAt, readVaultAt } from './read-vault.ts'
import { readVenueMovement, readVenueReceipt } from './read-venue-receipt.ts'
import { redeemableAt } from './redeemable.ts'
import { signStep } from './sign-step.ts'

export interface EvmVenueSettings extends EvmSettings {
  /** Maximum fee per gas of a transaction, in wei. */
  readonly feeCapPerGas: bigint
}

/** A reading is a sequence of calls on one node, up to twenty while the vault is illiquid. */
const READING_TIMEOUTS = 4
const DEFAULT_TIMEOUT_MS = 3_000

/** The wallet that holds the shares must have no other use, so that its nonces and its balance are only those of the moves. */
const checkWallet = (settings: EvmVenueSettings, wallet: string): void => {
  const { network, venueWallet, treasury, cold, gasAccounts = [], ownAddresses } = settings
  if (venueWallet !== undefined && addressKey(venueWallet) !== wallet)
    throw new Error(`${network}: the signer's address ${wallet} is not the venue wallet ${venueWallet}`)
  const others = [treasury, ...(cold === undefined ? [] : [cold]), ...gasAccounts, ...ownAddresses]
  if (others.some((address) => addressKey(address) === wallet))
    throw new Error(`${network}: the venue wallet ${wallet} must be an address that nothing else uses`)
}

/** An ERC-4626 vault on Base or on the third network. */
export const evmVenue = (settings: EvmVenueSettings, signer: EvmKeySigner, market: VenueMarket): Venue => {
  const { network, chainId, minProviders, feeCapPerGas } = settings
  const wallet = addressKey(signer.address)
  checkWallet(settings, wallet)
  if (market.network !== network) throw new Error(`${market.key} is on ${market.network}, not on ${network}`)
  const vault = {
    chainId,
    wallet,
    usdc: addressKey(settings.usdc),
    vault: addressKey(market.vault),
    treasury: addressKey(settings.treasury),
  }
  // Other markets of the network use the same wallet.
  const otherVaults = (settings.ownPayers ?? []).filter((one) => one !== vault.vault && one !== wallet)
  const nodes = evmNodes(settings)
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = settings
  const readers = evmNodes({ ...settings, timeoutMs: timeoutMs * READING_TIMEOUTS })
  const ask = async <T>(run: (at: Awaited<ReturnType<typeof openAt>>) => Promise<T>) =>
    readers.queryProviders(async (node: Node) => {
      const at = await openAt(vault, node)
      return { height: at.height, ...(await run(at)) }
    }, minProviders)

  return {
    // The account whose nonces are compared is the wallet.
    ...nonceRail({ ...settings, treasury: wallet }, nodes, [vault.usdc, vault.vault, ...otherVaults]),
    market,
    wallet,

    async read(shares) {
      const responses = await ask(async (at) => {
        const reading = await readVaultAt(at, shares)
        return { reading, values: [reading.value] }
      })
      const shown = agreeOnVault(settings, responses).map(({ reading }) => reading)
      const [{ value, tvl, price }] = shown as [(typeof shown)[number]]
      return {
        value: money(value),
        // A loss of shares is for good, so every provider must show it.
        held: shown.map(({ held }) => held).reduce(larger),
        // Where the providers differ, the worse counts.
        liquid: money(shown.map(({ liquid }) => liquid).reduce(smaller)),
        tvl: money(tvl),
        price,
        acceptsDeposits: shown.every(({ acceptsDeposits }) => acceptsDeposits),
        isHonest: shown.every(({ isHonest }) => isHonest),
      }
    },

    async redeemable(shares) {
      const responses = await ask(async (at) => ({ values: [], redeemable: await redeemableAt(at, shares) }))
      const shown = agreeOnVault(settings, responses).map(({ redeemable }) => redeemable)
      const least = shown.reduce((a, b) =>
        b.shares < a.shares || (b.shares === a.shares && b.assets < a.assets) ? b : a,
      )
      return { shares: least.shares, assets: money(least.assets) }
    },

    async depositProblem(amount) {
      const responses = await ask(async (at) => ({
        values: [],
        problem: await depositProblemAt(at, amount),
      }))
      return agreeOnVault(settings, responses).find(({ problem }) => problem !== undefined)?.problem
    },

    balance: async () => (await readBalance(settings, nodes, wallet)).final,

    sign: (call, nonce, previous) => signStep(vault, nodes, signer, { call, nonce, previous, feeCapPerGas }),
    receiptOf: (reference) => readVenueReceipt(settings, nodes, vault, reference),
    movedBy: (reference) => readVenueMovement(settings, nodes, vault, reference),
  }
}
