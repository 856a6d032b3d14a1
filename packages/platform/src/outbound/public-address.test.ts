import { describe, expect, test } from 'vitest'
import { isPublicAddress } from './public-address.ts'

/** The first and last address of each range, and the public addresses next to it where they exist. */
const EDGES: readonly (readonly [range: string, inside: readonly string[], outside: readonly string[]])[] = [
  ['this network', ['0.0.0.0', '0.255.255.255'], ['1.0.0.0']],
  ['private 10', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
  ['carrier-grade NAT', ['100.64.0.0', '100.127.255.255'], ['100.63.255.255', '100.128.0.0']],
  ['loopback', ['127.0.0.0', '127.255.255.255'], ['126.255.255.255', '128.0.0.0']],
  ['a cloud control service', ['168.63.129.16'], ['168.63.129.15', '168.63.129.17']],
  ['link-local', ['169.254.0.0', '169.254.255.255'], ['169.253.255.255', '169.255.0.0']],
  ['private 172.16', ['172.16.0.0', '172.31.255.255'], ['172.15.255.255', '172.32.0.0']],
  ['protocol assignments', ['192.0.0.0', '192.0.0.255'], ['191.255.255.255', '192.0.1.0']],
  ['documentation 1', ['192.0.2.0', '192.0.2.255'], ['192.0.3.0']],
  ['AS112', ['192.31.196.0', '192.31.196.255'], ['192.31.195.255', '192.31.197.0']],
  ['AMT', ['192.52.193.0', '192.52.193.255'], ['192.52.192.255', '192.52.194.0']],
  ['6to4 relay', ['192.88.99.0', '192.88.99.255'], ['192.88.98.255', '192.88.100.0']],
  ['private 192.168', ['192.168.0.0', '192.168.255.255'], ['192.167.255.255', '192.169.0.0']],
  ['AS112 direct', ['192.175.48.0', '192.175.48.255'], ['192.175.47.255', '192.175.49.0']],
  ['benchmark', ['198.18.0.0', '198.19.255.255'], ['198.17.255.255', '198.20.0.0']],
  ['documentation 2', ['198.51.100.0', '198.51.100.255'], ['198.51.99.255', '198.51.101.0']],
  ['documentation 3', ['203.0.113.0', '203.0.113.255'], ['203.0.112.255', '203.0.114.0']],
  [
    'multicast and reserved',
    ['224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.255'],
    ['223.255.255.255'],
  ],
  ['below global unicast', ['::', '::1', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'], ['2000::']],
  ['above global unicast', ['4000::', '5f00::1', 'fc00::1', 'fe80::1', 'ff02::1'], ['3ffe::1']],
  ['IETF assignments', ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'], ['2001:200::']],
  ['documentation 4', ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'], ['2001:db7::', '2001:db9::']],
  ['6to4', ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'], ['2003::']],
  ['AS112 v6', ['2620:4f:8000::', '2620:4f:8000:ffff::'], ['2620:4f:7fff::', '2620:4f:8001::']],
  ['documentation 5', ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'], ['3fff:1000::']],
  ['mapped', ['::ffff:8.8.8.8', '::ffff:808:808', '::ffff:0:8.8.8.8'], []],
  ['compatible', ['::8.8.8.8', '::808:808'], []],
  ['NAT64', ['64:ff9b::8.8.8.8', '64:ff9b:1::808:808'], []],
  [
    'not an address',
    ['', 'localhost', '8.8.8', '08.8.8.8', '2606:4700::1%eth0', '[2606:4700::1]', ' 8.8.8.8'],
    [],
  ],
]

describe('isPublicAddress', () => {
  test.each(EDGES)(
    'rejects the first and last address of %s, and no address outside',
    (_range, inside, outside) => {
      expect(inside.filter(isPublicAddress)).toEqual([])
      expect(outside.filter((address) => !isPublicAddress(address))).toEqual([])
    },
  )

  test('ordinary internet addresses are public', () => {
    const ordinary = ['1.1.1.1', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001:80e::200e']
    expect(ordinary.filter((address) => !isPublicAddress(address))).toEqual([])
  })
})
