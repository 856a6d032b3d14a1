import {
  SIGNATURE_MAX_AGE_MS,
  SIGNATURE_MAX_SKEW_MS,
  type Signatures,
  type Wallet,
  type WalletProof,
} from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { isHex } from 'viem'
import type { ChainAccess } from './call-contract.ts'
import { badWalletField, namingPurpose } from './errors.ts'
import { parseWallet } from './parse-wallet.ts'
import { isMilliseconds, NOT_MILLISECONDS, type Site, signedMessage } from './signed-message.ts'
import { verifyEvm } from './verify-evm.ts'
import { verifySolana } from './verify-solana.ts'

interface WalletSignatureSettings extends Site {
  /** Base nodes in order of preference. Used only for smart wallets. */
  readonly evmRpcUrls: readonly string[]
  /** Nodes of the third network, for smart wallets that pay there. */
  readonly altRpcUrls?: readonly string[]
  readonly rpcTimeoutMs?: number
}

const RPC_TIMEOUT_MS = 3_000

const requireFresh = (signedAtMs: number, now: Date): void => {
  if (!isMilliseconds(signedAtMs)) throw badWalletField('wallet_sig_ts', NOT_MILLISECONDS)
  const ageMs = now.getTime() - signedAtMs
  if (ageMs > SIGNATURE_MAX_AGE_MS) {
    const message = `This signature is older than ${SIGNATURE_MAX_AGE_MS / 1000} seconds. Sign again with the current time in wallet_sig_ts.`
    throw new ApiError('unauthenticated', message, { code: 'signature_expired' })
  }
  if (ageMs < -SIGNATURE_MAX_SKEW_MS) {
    const message = `wallet_sig_ts is more than ${SIGNATURE_MAX_SKEW_MS / 1000} seconds ahead of the server time (${now.toISOString()}). Correct your clock and sign again.`
    throw new ApiError('unauthenticated', message, { code: 'signature_from_future' })
  }
}

/** Parses the wallet again, because the caller may not have used `parseWallet`. */
const requireWallet = (wallet: Wallet): Wallet => {
  const parsed = parseWallet(wallet.address, wallet.chain)
  if (parsed !== undefined && parsed.key === wallet.key) return parsed
  throw badWalletField('wallet', 'wallet is not an address that can sign on this chain')
}

export const walletSignatures = (settings: WalletSignatureSettings): Signatures => {
  const { evmRpcUrls, altRpcUrls = [], rpcTimeoutMs: timeoutMs = RPC_TIMEOUT_MS } = settings
  // An address can be a different contract on another chain, so each network has its own nodes.
  const accessTo = ({ beforeQuery }: WalletProof, network: Network): ChainAccess => ({
    rpcUrls: network === 'alt-mainnet' ? altRpcUrls : evmRpcUrls,
    timeoutMs,
    beforeQuery,
  })
  return {
    parseWallet,
    messageToSign: (wallet, signedAtMs, purpose) => signedMessage(settings, wallet, signedAtMs, purpose),
    async verify(proof, purpose, now) {
      const wallet = requireWallet(proof.wallet)
      requireFresh(proof.signedAtMs, now)
      const text = signedMessage(settings, wallet, proof.signedAtMs, purpose)
      try {
        if (wallet.chain === 'solana') {
          await verifySolana(wallet.address, text, proof.signature)
          return 'key'
        }
        assert(isHex(wallet.key), 'a parsed EVM wallet has a hexadecimal key')
        const network = proof.network ?? 'base-mainnet'
        const signer = await verifyEvm(accessTo(proof, network), wallet.key, text, proof.signature)
        return signer === 'key' ? 'key' : network
      } catch (error) {
        // fix: purpose-named
        throw namingPurpose(error, purpose)
      }
    },
  }
}
