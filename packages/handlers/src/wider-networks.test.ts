import { expect, test } from 'vitest'
import { widerNetworks } from './wider-networks.ts'

test('widerNetworks: the /56 keeps the upper byte of the fourth group, the /48 keeps three groups', () => {
  expect(widerNetworks('2001:db8:1:abcd::/64')).toEqual([
    { bits: 56, network: '2001:db8:1:ab00::/56' },
    { bits: 48, network: '2001:db8:1::/48' },
  ])
  expect(widerNetworks('2001:db8:0:7::/64')[0]?.network).toBe('2001:db8:0:0::/56')
})

test('widerNetworks: an IPv4 client has none', () => {
  expect(widerNetworks('192.0.2.1')).toEqual([])
})
