import type { Facilitator, SignedPayment } from '@market/core/ports/facilitator'
import type { SolanaKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import {
  address,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  isAddress,
  isSignatureBytes,
} from '@solana/kit'
import { type SolanaNodes, solanaNodes } from './nodes.ts'
import { EXPIRY_MARGIN } from './observe-payout.ts'
import { observeSettlement } from './observe-settlement.ts'
import { type PaymentTransaction, parsePaymentTransaction, transferIn } from './payment-transaction.ts'
import { readHeights } from './read-heights.ts'
import { MAX_FEE, REASONS, rejectLayout, rejectOnChain } from './reject-payment.ts'
import { sendBytes } from './send-bytes.ts'
import type { SolanaSettings } from './settings.ts'
import { isFrozen, readTokenAccount, usdcAccountOf } from './token-account.ts'

export interface SolanaFacilitatorSettings extends SolanaSettings {
  /** Pays only fees and is not used in any instruction. */
  readonly gasAccount: string
}

/** Network names in x402 version 2 (the beginning of the genesis hash) and version 1. */
export const SOLANA_CAIP2 = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const V1_NAME = 'solana'

const checkGasAccount = (
  { gasAccount, treasury, ownAddresses }: SolanaFacilitatorSettings,
  key: string | undefined,
): void => {
  if (!isAddress(gasAccount)) throw new Error(`The gas account ${gasAccount} is not a Solana address`)
  // Transactions signed by our own wallets never count as payments, and the gas account signs every payment.
  if ([treasury, ...ownAddresses].includes(gasAccount))
    throw new Error(`The gas account ${gasAccount} must not be one of the marketplace's own wallets`)
  if (key !== undefined && key !== gasAccount)
    throw new Error(`The signer's address ${key} is not the gas account ${gasAccount}`)
}

/** The treasury's token account must exist, because buyers' payments do not create it. */
const openDestination = async (nodes: SolanaNodes, { treasury, usdc }: SolanaFacilitatorSettings) => {
  const destination = await usdcAccountOf(treasury, usdc)
  const account = await readTokenAccount(nodes.rpc, destination, 'confirmed')
  if (account === undefined || account.mint !== usdc || account.owner !== treasury)
    throw new Error(`The treasury ${treasury} has no USDC account. Create ${destination} first.`)
  if (isFrozen(account)) throw new Error(`The treasury's USDC account ${destination} is frozen by its issuer`)
  return destination
}

/**
 * Settles transfers that buyers signed and pays their fee (x402 scheme "exact"). Without a signer it supports everything
 * except signing.
 */
export const openSolanaFacilitator = async (
  settings: SolanaFacilitatorSettings,
  signer?: SolanaKeySigner,
): Promise<Facilitator> => {
  const { gasAccount, usdc: mint } = settings
  checkGasAccount(settings, signer?.address)
  const nodes = solanaNodes(settings)
  const destination = await openDestination(nodes, settings)
  const terms = { gasAccount, mint, destination }

  const requireSettleable = (payment: SignedPayment): PaymentTransaction => {
    const transaction = parsePaymentTransaction(payment)
    const amount = transferIn(transaction?.instructions[2])?.amount
    assert(transaction !== undefined && amount !== undefined, 'a settlement has a parsed transaction')
    const rejected = rejectLayout(transaction, { ...terms, amount })
    assert(rejected === undefined, `the gas account signs only payments to the treasury: ${rejected}`)
    return transaction
  }

  return {
    network: 'solana-mainnet',
    caip2: SOLANA_CAIP2,
    v1: V1_NAME,
    gasAccount,
    extra: { feePayer: gasAccount },

    parsePayment(payment) {
      const transaction = parsePaymentTransaction(payment)
      const transfer = transferIn(transaction?.instructions[2])
      if (transaction === undefined || transfer === undefined) return undefined
      return { kind: 'message', proof: transaction.hash, payer: transfer.authority }
    },

    async rejectionReason(payment, amount) {
      const transaction = parsePaymentTransaction(payment)
      if (transaction === undefined) return REASONS.unreadable
      return rejectLayout(transaction, { ...terms, amount }) ?? rejectOnChain(nodes, transaction)
    },

    minedNonce: async () => null,

    async readTerms() {
      // The buyer's blockhash is not newer than the newest one now.
      const { final, horizon } = await readHeights(nodes)
      const lastValidHeight = horizon - EXPIRY_MARGIN
      return { minedNonce: null, finalHeight: final, lastValidHeight, fees: null, gasBalance: null }
    },

    async sign(payment, { finalHeight, lastValidHeight }) {
      assert(signer !== undefined, 'only a process with the gas key signs settlements')
      const { wire } = requireSettleable(payment)
      const signature = await signer.signMessage(Uint8Array.from(wire.messageBytes))
      assert(isSignatureBytes(signature), 'the signature has 64 bytes')
      const signatures = { ...wire.signatures, [address(gasAccount)]: signature }
      const transaction = { ...wire, signatures }
      return {
        reference: getSignatureFromTransaction(transaction),
        bytes: getBase64EncodedWireTransaction(transaction),
        gasAccount: null,
        nonce: null,
        signedAtHeight: finalHeight,
        lastValidHeight,
      }
    },

    replaceWithHigherFee: async () => undefined,

    send: ({ bytes }) => sendBytes(nodes, bytes),
    observe: (settlement) => observeSettlement(nodes, settlement),

    async readGas() {
      const { value } = await nodes.rpc.getBalance(address(gasAccount), { commitment: 'confirmed' }).send()
      return { balance: value, maxCostPerSettlement: MAX_FEE }
    },
  }
}
