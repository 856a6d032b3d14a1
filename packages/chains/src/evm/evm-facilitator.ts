import { type Facilitator, outOfGas } from '@market/core/ports/facilitator'
import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import type { Node } from '../nodes/node-pool.ts'
import { type Authorization, parseAuthorization } from './authorization.ts'
import { authorizationCall, MAX_GAS } from './authorization-call.ts'
import { blockAt, evmNodes, readFinalBlock } from './evm-nodes.ts'
import { isFeeSufficient, minReplacementFee, nextFees, readFees } from './fees.ts'
import { observeSettlement } from './observe-settlement.ts'
import { quantity } from './parse-rpc.ts'
import { readCall } from './read-call.ts'
import { readDomain } from './read-domain.ts'
import { readMinedNonce } from './read-mined-nonce.ts'
import { rejectOnChain, rejectTerms } from './reject-authorization.ts'
import { callAll, callEach } from './rpc.ts'
import { sendBytes } from './send-bytes.ts'
import { addressKey, type EvmSettings, parseAddress } from './settings.ts'
import { signCall } from './sign-call.ts'

export interface EvmFacilitatorSettings extends EvmSettings {
  /** Pays only gas. It is not the treasury, whose account sends no transactions. */
  readonly gasAccount: string
  /** Maximum fee per gas of a settlement, in wei. */
  readonly feeCapPerGas: bigint
  readonly now?: () => Date
}

/** Network names in x402 version 1. */
const V1_NAMES: Readonly<Record<number, string>> = {
  1: 'ethereum',
  137: 'polygon',
  143: 'monad',
  1329: 'sei',
  8453: 'base',
  42220: 'celo',
  43114: 'avalanche',
  84532: 'base-sepolia',
}

const INVALID_PAYLOAD = 'invalid_payload'

const checkGasAccount = ({ network, gasAccount, treasury }: EvmFacilitatorSettings, key?: string): void => {
  if (parseAddress(gasAccount) === undefined)
    throw new Error(`${network}: the gas account ${gasAccount} is not an EVM address`)
  if (addressKey(gasAccount) === addressKey(treasury))
    throw new Error(
      `${network}: the gas account must not be the treasury, whose account sends no transactions`,
    )
  if (key !== undefined && addressKey(key) !== addressKey(gasAccount))
    throw new Error(`${network}: the signer's address ${key} is not the gas account ${gasAccount}`)
}

/**
 * Settles EIP-3009 authorizations on Base or on the third network (x402 scheme "exact"). Without a signer it supports
 * everything except signing. Throws when the token's EIP-712 domain does not match, because every signature would fail.
 */
export const openEvmFacilitator = async (
  settings: EvmFacilitatorSettings,
  signer?: EvmKeySigner,
): Promise<Facilitator> => {
  const { network, chainId, usdc, treasury, gasAccount, feeCapPerGas, finalityTag } = settings
  const { now = () => new Date() } = settings
  checkGasAccount(settings, signer?.address)
  const nodes = evmNodes(settings)
  const { domain, isValid } = await nodes.query((node) => readDomain(settings, node))
  const { name, version } = domain
  if (!isValid)
    throw new Error(`${network}: the EIP-712 domain of ${usdc} is not "${name}", version "${version}"`)

  const requireAuthorization = (payment: Readonly<Record<string, unknown>>): Authorization => {
    const authorization = parseAuthorization(payment)
    assert(authorization !== undefined, 'a settlement has a parsed authorization')
    return authorization
  }

  const gasBalanceAt = async (node: Node): Promise<bigint> => {
    const [balance] = await callAll(node, chainId, [['eth_getBalance', gasAccount, 'latest']])
    return quantity(balance)
  }

  return {
    network,
    caip2: `eip155:${chainId}`,
    v1: V1_NAMES[chainId],
    extra: { name, version },
    gasAccount: addressKey(gasAccount),

    parsePayment(payment) {
      const authorization = parseAuthorization(payment)
      if (authorization === undefined) return undefined
      const payer = addressKey(authorization.from)
      return { kind: 'authorization', proof: `${payer}:${authorization.nonce}`, payer }
    },

    async rejectionReason(payment, amount) {
      const authorization = parseAuthorization(payment)
      if (authorization === undefined) return INVALID_PAYLOAD
      return (
        rejectTerms(settings, authorization, amount, now()) ??
        nodes.query((node) => rejectOnChain(settings, node, domain, gasAccount, authorization))
      )
    },

    minedNonce: () => readMinedNonce(nodes, chainId, gasAccount),

    async readTerms() {
      const minedNonce = await readMinedNonce(nodes, chainId, gasAccount)
      return nodes.query(async (node) => {
        const [final] = await callEach(node, chainId, [blockAt(finalityTag)])
        const finalHeight = readFinalBlock(final)?.height ?? 0n
        const [fees, gasBalance] = [await readFees(node, chainId), await gasBalanceAt(node)]
        return { minedNonce, finalHeight, lastValidHeight: null, fees, gasBalance }
      })
    },

    async sign(payment, { fees, finalHeight, gasBalance }, nonce) {
      assert(signer !== undefined, 'only a process with the gas key signs settlements')
      assert(nonce !== null && fees !== null, 'an EVM settlement has a nonce before it is signed')
      const authorization = requireAuthorization(payment)
      assert(addressKey(authorization.to) === addressKey(treasury), 'a settlement pays the treasury')
      const { data, gas } = await authorizationCall(domain, authorization)
      const offeredFees = nextFees(fees, [], feeCapPerGas)
      if (gasBalance !== null && gasBalance < gas * offeredFees.maxFeePerGas) throw outOfGas(network)
      const call = { chainId, to: usdc, data, gas, nonce, fees: offeredFees }
      const { reference, bytes } = await signCall(signer, call)
      const place = { gasAccount: addressKey(gasAccount), nonce }
      return { reference, bytes, ...place, signedAtHeight: finalHeight, lastValidHeight: null }
    },

    async replaceWithHigherFee(bytes, { fees, gasBalance }) {
      const { fees: offered, ...call } = readCall(bytes)
      assert(fees !== null && addressKey(call.to) === addressKey(usdc), 'a settlement calls the token')
      if (isFeeSufficient(offered, fees) || minReplacementFee(offered.maxFeePerGas) > feeCapPerGas)
        return undefined
      const next = nextFees(fees, [offered], feeCapPerGas)
      // Nodes would reject a fee above the balance, and the affordable transaction would be lost.
      if (gasBalance !== null && gasBalance < call.gas * next.maxFeePerGas) throw outOfGas(network)
      assert(signer !== undefined, 'only a process with the gas key signs settlements')
      return signCall(signer, { ...call, fees: next })
    },

    send: ({ bytes }) => sendBytes(nodes, chainId, bytes),
    observe: (settlement, payment) =>
      observeSettlement(settings, nodes, settlement, requireAuthorization(payment)),

    readGas: () =>
      nodes.query(async (node) => {
        const { maxFeePerGas } = await readFees(node, chainId)
        return { balance: await gasBalanceAt(node), maxCostPerSettlement: maxFeePerGas * MAX_GAS }
      }),
  }
}
