import type { EvmPayoutSenderSettings } from '@market/chains/evm/evm-payout-sender'
import type { Observation, TransferQuery } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import type { EvmNetwork } from '@market/testing/evm-network'
import { authorizationCall, authorizationOf, authorizationTypedData } from '@market/testing/evm-usdc'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

export const GWEI = 10n ** 9n
/** Required confirmations in these tests. */
export const CONFIRMATIONS = 3
/** Blocks until finality on the test network: two epochs of four, and the block itself. */
export const FINALITY = 9

export const newAccount = (): PrivateKeyAccount & { readonly key: Hex } => {
  const key = generatePrivateKey()
  return { ...privateKeyToAccount(key), key }
}

export const fundedPayer = async (network: EvmNetwork, amount = 1_000_000_000n) => {
  const payer = newAccount()
  await network.fund(payer.address)
  await network.mint(payer.address, amount)
  return payer
}

/** Timeout of nodes that respond, also on a busy machine. */
export const RESPONDS_MS = 60_000

export const settingsFor = (
  network: EvmNetwork,
  treasury: string,
  changes: Partial<EvmPayoutSenderSettings> = {},
): EvmPayoutSenderSettings => ({
  network: 'base-mainnet',
  chainId: network.chainId,
  rpcUrls: [network.url],
  minProviders: 1,
  usdc: network.usdc,
  treasury,
  minPayout: usdc(0n),
  confirmations: [{ from: usdc(0n), blocks: CONFIRMATIONS }],
  finalityTag: 'finalized',
  ownAddresses: [],
  timeoutMs: RESPONDS_MS,
  feeCapPerGas: 1_000n * GWEI,
  // The tests set the time of the chain.
  recentMs: 0,
  ...changes,
})

const HOUR = 3_600_000

export const question = (reference: string, changes: Partial<TransferQuery> = {}): TransferQuery => ({
  reference,
  minAmount: usdc(1n),
  notBefore: new Date(Date.now() - HOUR),
  notAfter: new Date(Date.now() + HOUR),
  ...changes,
})

/** The kind and reason of an observation as text. */
export const verdict = (observation: Observation): string =>
  observation.kind === 'ok'
    ? observation.transfer.final
      ? 'ok, final'
      : 'ok'
    : `${observation.kind}: ${observation.reason}`

/** A call that executes a payment signed by `from`. */
export const authorizedBy = async (
  { chainId, usdc: asset }: EvmNetwork,
  from: PrivateKeyAccount,
  to: Address,
  amount: bigint,
): Promise<Hex> => {
  const validBefore = BigInt(Math.floor(Date.now() / 1_000) + 600)
  const authorization = authorizationOf(from.address, to, amount, validBefore)
  const typed = authorizationTypedData(chainId, asset, authorization)
  return authorizationCall(authorization, await from.signTypedData(typed))
}
