import { writeFileSync } from 'node:fs'
import { compileContracts, SOURCES } from './compile-contract.ts'

for (const source of Object.keys(SOURCES)) {
  const { file, text } = compileContracts(source)
  writeFileSync(file, text)
}
