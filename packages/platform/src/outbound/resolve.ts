import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { OutboundFailure } from '@market/core/ports/outbound'
import { isPublicAddress } from './public-address.ts'

export interface HostResolver {
  resolve(host: string): Promise<readonly string[]>
}

export const systemResolver: HostResolver = {
  resolve: async (host) => (await lookup(host, { all: true })).map((answer) => answer.address),
}

const askResolver = async (resolver: HostResolver, host: string): Promise<readonly string[]> => {
  try {
    return await resolver.resolve(host)
  } catch (cause) {
    const failure = new OutboundFailure('dns', `The name ${host} could not be resolved.`)
    failure.cause = cause
    throw failure
  }
}

/**
 * Resolves the name once. The caller connects only to these addresses. One private address rejects the name, because
 * otherwise it would depend on chance where the request goes.
 */
export const resolvePublic = async (host: string, resolver: HostResolver): Promise<readonly string[]> => {
  const addresses = isIP(host) === 0 ? await askResolver(resolver, host) : [host]
  if (addresses.length === 0) throw new OutboundFailure('dns', `The name ${host} has no address.`)
  if (!addresses.every(isPublicAddress))
    throw new OutboundFailure('forbidden', `The host ${host} leads to an address that is not public.`)
  return addresses
}
