import { evmChain } from '@market/chains/evm/evm-chain'
import { evmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { evmVenue } from '@market/chains/evm/venue/evm-venue'
import { localEvmSigner } from '@market/chains/local-signers'
import type { Actor } from '@market/core/context'
import type { Wallet } from '@market/core/ports/signatures'
import type { Venue, VenueMarket, Venues } from '@market/core/ports/venue'
import { depositPurpose, settleDeposits } from '@market/earn/deposits'
import { advanceVenueTransfers } from '@market/earn/venue-transfers'
import {
  awaitWithdrawal,
  describeWithdrawal,
  findEarnHolders,
  requestWithdrawal,
  settleWithdrawals,
} from '@market/earn/withdrawals'
import { payoutKinds } from '@market/jobs/payout-kinds'
import { reportPools, type SweepContext } from '@market/jobs/reports'
import { SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { checkIntents, intentHandler, type Purposes, recheckTransfers } from '@market/money/payments'
import { advanceDue, duePayouts, type PayoutContext, submitPayouts } from '@market/money/payouts'
import { checkReserves } from '@market/reserves/snapshots'
import { testClock } from '@market/testing/clock'
import { startEvmNetwork } from '@market/testing/evm-network'
import { deployVault, type TestVaultKind } from '@market/testing/evm-venues'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { encodeFunctionData, erc20Abi, type PrivateKeyAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { CONFIRMATIONS, FINALITY, fundedPayer, newAccount, settingsFor } from '../chains/evm-world.ts'
import { follow } from '../support/follow.ts'
import { payByTransfer } from '../support/named-transfers.ts'

export const NETWORK = 'base-mainnet'
const MANY = usdc(1_000_000_000_000n)
export const CAPS = {
  perPayout: MANY,
  perPayee: MANY,
  perDay: MANY,
  cost: {},
  gasBudget: {},
  accountMinimum: usdc(0n),
}
/** As the setting's default. */
export const MIN_PAYOUT = usdc(50_000n)
/** Longer than the pauses between checks. */
const STEP_MS = 6 * SECOND

export const USD = 1_000_000n

/**
 * A worker in the process of the test, on a real chain with a real vault. `step` does what its sweeps do, once, so that a test
 * decides what happens in between.
 */
export async function startEarnWorld(kind: TestVaultKind = 'lending') {
  const network = await startEvmNetwork({ chainId: 8453 })
  const [treasury, gas, wallet] = [newAccount(), newAccount(), newAccount()]
  await Promise.all([network.fund(gas.address), network.fund(wallet.address)])
  const vault = await deployVault(network, kind)
  const market: VenueMarket = {
    key: 'test:usdc',
    venue: 'test',
    market: 'usdc',
    kind: kind === 'liquidity' ? 'liquidity_provision' : 'lending',
    label: 'USDC',
    network: NETWORK,
    vault: vault.address.toLowerCase(),
  }
  const settings = settingsFor(network, treasury.address, {
    cooldownMs: 0,
    minPayout: MIN_PAYOUT,
    ownPayers: [wallet.address.toLowerCase(), market.vault],
  })
  const database = await testDatabase()
  const clock = testClock(new Date())
  const ctx = {
    ...marketContext({ db: database.db, clock }),
    chains: { [NETWORK]: evmChain(settings) },
    earnMarkets: [market],
  }
  const realVenue = evmVenue(settings, localEvmSigner(wallet.key), market)
  const venues: Partial<Record<string, Venue>> = { [market.key]: realVenue }
  const payoutSender = evmPayoutSender(settings, localEvmSigner(treasury.key), [localEvmSigner(gas.key)])
  const world = {
    network,
    vault,
    market,
    database,
    ctx,
    clock,
    treasury: treasury.address,
    wallet: wallet.address,
    realVenue,
    payoutSender,
    venues: venues as Venues,
    /** The security events of pauses. */
    pauses: [] as object[],
    /** Puts another venue in place of the real one, such as one that dies. */
    useVenue: (venue: Venue | undefined) => {
      if (venue === undefined) delete venues[market.key]
      else venues[market.key] = venue
    },
    /** Somebody takes a part of the wallet's vault shares without a payment, in percent. */
    seize: async (percent: bigint) => {
      const lost = ((await vault.sharesOf(wallet.address)) * percent) / 100n
      const args = ['0x000000000000000000000000000000000000dEaD', lost] as const
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
      const nonce = await network.rpc('eth_getTransactionCount', [wallet.address, 'latest'])
      await network.included(await network.call(privateKeyToAccount(wallet.key), vault.address, data))
      // The wallet itself did nothing.
      await network.rpc('anvil_setNonce', [wallet.address, nonce])
    },
    stop: () => Promise.all([network.stop(), database.stop()]),
  }
  return { ...world, payouts: payoutContext(world, payoutSender) }
}

type PartialWorld = {
  readonly ctx: object
  readonly venues: Venues
}

const payoutContext = (
  { ctx, venues }: PartialWorld,
  sender: PayoutContext['payoutSenders'][typeof NETWORK],
) =>
  ({
    ...ctx,
    payoutSenders: { [NETWORK]: sender },
    payoutKinds: payoutKinds(venues),
    caps: CAPS,
    screenings: [],
    feeAddresses: { 'solana-mainnet': [], 'base-mainnet': [], 'alt-mainnet': [] },
  }) as unknown as PayoutContext

export type EarnWorld = Awaited<ReturnType<typeof startEarnWorld>>

const NO_HANDLER = {
  onConfirmed: async () => 'cancelled' as const,
  onFailed: async () => {},
  onReversed: async () => {},
}
const PURPOSES: Purposes = {
  order: NO_HANDLER,
  registration: NO_HANDLER,
  bounty: NO_HANDLER,
  purchase: NO_HANDLER,
  earn_deposit: intentHandler(depositPurpose),
}

/** What the worker does in one round of its sweeps. */
export async function step(world: EarnWorld): Promise<void> {
  const { ctx, payouts, payoutSender, venues, pauses } = world
  const earn = { ...ctx, venues, caps: payouts.caps }
  await readMoney(world)
  await checkReserves({ ...ctx, earnHolders: findEarnHolders })
  for (const id of await duePayouts(payouts, NETWORK, 50)) await advanceDue(payouts, id)
  await submitPayouts(payouts, payoutSender)
  const onSecurityEvent = (event: object) => void pauses.push(event)
  await reportPools({ ...earn, onSecurityEvent } as unknown as SweepContext, { error: () => {} })
  await advanceVenueTransfers(earn)
  await settleDeposits(earn)
  await settleWithdrawals(earn)
  world.clock.advance(STEP_MS)
}

/** The part of a round that reads what came into the treasury. */
export async function readMoney({ ctx }: EarnWorld): Promise<void> {
  await checkIntents(ctx, PURPOSES)
  await follow(ctx, NETWORK)
  await recheckTransfers(ctx, PURPOSES, () => {})
}

/** Rounds in which everything becomes final, until the condition is true. */
export async function stepUntil(
  world: EarnWorld,
  what: string,
  isTrue: () => Promise<boolean>,
  rounds = 60,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    if (await isTrue()) return
    await world.network.mine(FINALITY)
    await step(world)
  }
  throw new Error(`not within ${rounds} rounds: ${what}`)
}

export type Depositor = PrivateKeyAccount & { readonly actor: Actor }

export async function newDepositor({ network }: EarnWorld, usd = 10_000n): Promise<Depositor> {
  const account = await fundedPayer(network, usd * USD)
  const { address } = account
  const wallet: Wallet = { chain: 'base', address, key: address.toLowerCase(), provenBy: 'key' }
  return { ...account, actor: { kind: 'wallet', wallet } }
}

/** Sends USDC to the treasury and registers the transfer. */
export async function deposit(world: EarnWorld, from: Depositor, micros: bigint) {
  const { ctx, network, treasury } = world
  const reference = await network.transfer(from, treasury, micros)
  await network.mine(CONFIRMATIONS)
  return payByTransfer(ctx, from.actor, depositPurpose, {
    ...{ key: undefined, amount: usdc(micros), network: NETWORK, reference },
  })
}

export async function withdraw(world: EarnWorld, by: Depositor, shares: bigint | null) {
  const ctx = { ...world.ctx, actor: by.actor }
  const requested = await requestWithdrawal(ctx, by.actor, {
    key: undefined,
    shares,
    destination: undefined,
  })
  const decided = await step(world).then(() => awaitWithdrawal({ ...world.ctx, resultWaitMs: 0 }, requested))
  return describeWithdrawal(world.ctx, decided)
}
