import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { VERSION } from './version.ts'

test('VERSION: that of the package', () => {
  expect(VERSION).toBe(manifest.version)
})
