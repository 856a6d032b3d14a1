import fc from 'fast-check'
import { expect } from 'vitest'

// A unit test without an assertion fails, and Vitest does not count the conditions of properties.
fc.configureGlobal({ ...fc.readConfigureGlobal(), afterEach: () => expect(fc).toBeDefined() })
