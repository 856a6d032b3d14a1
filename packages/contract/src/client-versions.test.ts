import { expect, test } from 'vitest'
import { oldestFor } from './client-versions.ts'

const SUPPORTED = { sdk: '0.10.2', cli: '1.0.0', 'mcp-stdio': '0.1.0' }

test.each([
  ['sdk/0.9.9', '0.10.2'],
  ['sdk/0.10.1', '0.10.2'],
  ['sdk/0.10.1-dev.1c9342a7c6', '0.10.2'],
  ['cli/0.99.99', '1.0.0'],
])('oldestFor: %s is too old', (client, oldest) => {
  expect(oldestFor(client, SUPPORTED)).toBe(oldest)
})

test.each([
  'sdk/0.10.2',
  'sdk/0.10.2-dev.1c9342a7c6',
  'sdk/0.11.0',
  'sdk/1.0.0',
  'mcp-stdio/0.1.0',
  'other/0.0.1',
  'toString/0.0.1',
  'sdk',
  'sdk/',
  'sdk/1',
  'sdk/0.0',
  `sdk/${'9'.repeat(400)}.0.0`,
  '',
])('oldestFor: %s is not judged as too old', (client) => {
  expect(oldestFor(client, SUPPORTED)).toBeUndefined()
})
