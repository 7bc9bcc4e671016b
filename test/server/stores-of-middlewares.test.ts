import { it } from 'node:test'
import { assertStoresAreApart, enterStoreOf } from '../support/stores.ts'

it('begins no request in a store that a middleware of the one before it has entered', (t) =>
  assertStoresAreApart(t, {
    before: [
      (message, _, next) => {
        enterStoreOf(message.headers['x-user'])
        next()
      },
    ],
  }))
