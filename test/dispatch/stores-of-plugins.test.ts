import { it } from 'node:test'
import { assertStoresAreApart, enterStoreOf } from '../support/stores.ts'

it('begins no request in a store that a plugin of the one before it has entered', (t) =>
  assertStoresAreApart(t, {
    plugins: [{ routeStartup: (request) => enterStoreOf(request.header('x-user')) }],
  }))
