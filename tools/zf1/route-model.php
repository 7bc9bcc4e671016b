<?php

// The routes of ZF1, with the differences of section 10 of the specification. Each can be enabled by its id.

final class On
{
    public static array $ids = [];

    public static function has(string $id): bool
    {
        return isset(self::$ids[$id]);
    }

    public static function isName(string $key): bool
    {
        return $key === 'module' || $key === 'controller' || $key === 'action';
    }

    /** Returns what a route found; ZF1 ignores a route that sets nothing. */
    public static function found(array $values): array
    {
        return $values === [] && self::has('X29') ? ['action' => 'index'] : $values;
    }

    /** Tests a requirement or a regex. */
    public static function test(string $regex, string $flags, string $text, ?array &$values = null, bool $isStart = false): bool
    {
        $body = self::has('X23') ? "(?:$regex)" : $regex;
        return preg_match("#^$body" . ($isStart ? '' : '$') . "#$flags", $text, $values, PREG_UNMATCHED_AS_NULL) === 1;
    }
}

class ModelDispatcher extends Zend_Controller_Dispatcher_Standard
{
    public function isValidModule($module)
    {
        return On::has('X7') ? in_array($module, MODULES, true) : parent::isValidModule($module);
    }
}

class ModelModule extends Zend_Controller_Router_Route_Module
{
    public function match($path, $partial = false)
    {
        $found = parent::match($path, $partial);
        // The names are in the first three segments; a pair behind them is none.
        $names = parent::match(implode('/', array_slice(explode('/', trim($path, '/')), 0, 3)), $partial);
        return On::has('X3') ? array_intersect_key($names, ['module' => 1, 'controller' => 1, 'action' => 1]) + $found : $found;
    }
}

class ModelRoute extends Zend_Controller_Router_Route
{
    /** The keys that a pair behind `*` must not set. */
    public array $foreign = [];

    public function match($path, $partial = false)
    {
        $path = $partial ? $path : trim($path, '/');
        $segments = $path === '' ? [] : explode('/', $path);
        $values = $wild = [];
        $matched = '';
        $literals = 0;
        foreach ($segments as $i => $raw) {
            if (!array_key_exists($i, $this->_parts)) {
                if ($partial) {
                    break;
                }
                return false;
            }
            $matched .= "$raw/";
            $part = $this->_parts[$i];
            if ($part === '*') {
                $wild = $this->pairs(array_slice($segments, $i), $values);
                $matched = $path;
                break;
            }
            $name = $this->_variables[$i] ?? null;
            $value = $name !== null && On::isName($name) && On::has('X25') ? $raw : urldecode($raw);
            if ($name === null) {
                $isEncodable = preg_match('/^[\x21-\x7e]*$/', $part) === 1;
                $isEqual = On::has('X24') ? ($isEncodable ? $raw : $value) === $part : $part == $value;
                if (!$isEqual || (!On::has('X24') && !preg_match("#^$part\$#iu", $value))) {
                    return false;
                }
                $literals++;
                continue;
            }
            if ($raw === '' && On::has('X26') && !array_key_exists($name, $this->_defaults)) {
                return false;
            }
            if ($part !== null && !On::test($part, On::has('X22') ? 'u' : 'iu', $value)) {
                return false;
            }
            $values[$name] = $value;
        }
        if ($this->_staticCount !== $literals) {
            return false;
        }
        $return = $values + $wild + $this->_defaults;
        foreach ($this->_variables as $variable) {
            if (!array_key_exists($variable, $return)) {
                return false;
            }
            if ($return[$variable] == '' || $return[$variable] === null) {
                $return[$variable] = $this->_defaults[$variable] ?? null;
            }
        }
        $this->setMatchedPath(rtrim($matched, '/'));
        $this->_values = $values;
        return $partial ? $return : On::found($return);
    }

    private function pairs(array $segments, array $values): array
    {
        $wild = [];
        for ($i = 0; $i < count($segments); $i += 2) {
            $key = urldecode($segments[$i]);
            $value = isset($segments[$i + 1]) ? urldecode($segments[$i + 1]) : null;
            if ((On::has('X3') && On::isName($key)) || (On::has('X28') && isset($this->foreign[$key]))) {
                continue;
            }
            if (isset($this->_defaults[$key]) || isset($values[$key])) {
                continue;
            }
            if (On::has('X27')) {
                if ($value !== null) {
                    $wild[$key][] = $value;
                }
            } elseif (!isset($wild[$key])) {
                $wild[$key] = $value;
            }
        }
        return $wild;
    }
}

class ModelStatic extends Zend_Controller_Router_Route_Static
{
    public function match($path, $partial = false)
    {
        $found = parent::match($path, $partial);
        return is_array($found) && !$partial ? On::found($found) : $found;
    }
}

class ModelRegex extends Zend_Controller_Router_Route_Regex
{
    public function match($path, $partial = false)
    {
        return $this->matchAs($path, $partial, false);
    }

    /** The numbers of the groups without a name. */
    public function groups(): array
    {
        preg_match("#|$this->_regex#", '', $found, PREG_UNMATCHED_AS_NULL);
        return array_diff(array_slice(array_keys($found), 1), array_keys($this->_map), $this->_map);
    }

    /** Matches as the last route of a chain if it is the last. */
    public function matchAs(string $raw, bool $partial, bool $isLast)
    {
        $isDecoded = !$partial || On::has('X33');
        $raw = !$partial && On::has('X30') ? trim($raw, '/') : $raw;
        $path = $isDecoded ? urldecode($raw) : $raw;
        $path = $partial || On::has('X30') ? $path : trim($path, '/');
        $isStart = $partial && !($isLast && On::has('X33'));
        $flags = 'i' . (On::has('X31') ? 'u' : '');
        if (!On::test($this->_regex, $flags, $path, $found, $isStart)) {
            return false;
        }
        if ($partial) {
            $length = $isDecoded ? self::rawLength($raw, strlen($found[0])) : strlen($found[0]);
            if ($length === null) {
                return false;
            }
            $this->setMatchedPath(substr($raw, 0, $length));
        }
        $values = [];
        $last = 0;
        foreach ($found as $i => $value) {
            $last = is_int($i) && $value !== null ? $i : $last;
        }
        foreach ($found as $i => $value) {
            // Without PREG_UNMATCHED_AS_NULL, only the groups at the end are absent.
            if (is_int($i) && $i > 0 && ($value !== null || (!On::has('X32') && $i < $last))) {
                $values[$i] = (string) $value;
            }
        }
        $mapped = $this->_getMappedValues($values);
        foreach ($mapped as $key => $value) {
            if (On::isName((string) $key) && $value === '' && On::has('X32')) {
                unset($mapped[$key]);
            } elseif (On::isName((string) $key) && On::has('X25') && $isDecoded && !self::isRaw($raw, $path, $value)) {
                return false;
            }
        }
        $this->_values = $values;
        $return = $mapped + $this->_getMappedValues($this->_defaults, false, true);
        return $partial ? $return : On::found($return);
    }

    private static function rawLength(string $raw, int $length): ?int
    {
        preg_match_all('/%[0-9a-f]{2}|./is', $raw, $found, PREG_OFFSET_CAPTURE);
        $ends = array_map(fn ($each) => $each[1] + strlen($each[0]), $found[0]);
        return $length === 0 ? 0 : $ends[$length - 1] ?? null;
    }

    // The generated values occur once in a path.
    private static function isRaw(string $raw, string $path, string $value): bool
    {
        return substr_count($raw, $value) >= substr_count($path, $value);
    }
}

class ModelHostname extends Zend_Controller_Router_Route_Hostname
{
    public function match($request, $partial = false)
    {
        $found = On::has('X34') ? $this->matchHost($request) : parent::match($request);
        return is_array($found) && !$partial ? On::found($found) : $found;
    }

    private function matchHost($request)
    {
        if ($this->_scheme !== null && $request->getScheme() !== $this->_scheme) {
            return false;
        }
        if (!preg_match('/^(\[[\da-f:.]+\]|(?!\.)[\w.-]*)(?::(\d{1,5}))?$/iD', (string) $request->getHttpHost(), $found) || ($found[2] ?? 0) > 65535) {
            return false;
        }
        $host = strtolower(rtrim($found[1], '.'));
        $labels = $host === '' ? [] : explode('.', $host);
        $values = [];
        if (count($labels) > count($this->_parts)) {
            return false;
        }
        foreach ($this->_parts as $i => $part) {
            $name = $this->_variables[$i] ?? null;
            if ($name === null) {
                if (($labels[$i] ?? null) !== strtolower($part)) {
                    return false;
                }
            } elseif (isset($labels[$i])) {
                if (!preg_match('/^[\w-]{1,63}$/D', $labels[$i]) || ($part !== null && !On::test($part, 'iu', $labels[$i]))) {
                    return false;
                }
                $values[$name] = $labels[$i];
            } elseif (!array_key_exists($name, $this->_defaults)) {
                return false;
            }
        }
        $this->_values = $values;
        return $values + $this->_defaults;
    }
}

class ModelChain extends Zend_Controller_Router_Route_Chain
{
    public function match($request, $partial = null)
    {
        $raw = $request->getPathInfo();
        $rest = trim($raw, '/');
        $values = [];
        $matched = null;
        try {
            foreach ($this->_routes as $i => $route) {
                if ($i > 0 && $matched !== null && $rest !== '') {
                    $separator = $this->_separators[$i];
                    if (!str_starts_with($rest, $separator)) {
                        return false;
                    }
                    $rest = substr($rest, strlen($separator));
                }
                $request->setPathInfo($rest);
                if ($route instanceof Zend_Rest_Route) {
                    $route->rest = $rest;
                }
                $isLast = $i === count($this->_routes) - 1;
                $found = match (true) {
                    $route instanceof ModelRegex => $route->matchAs($rest, true, $isLast),
                    $route->getVersion() === 1 => $route->match($rest, true),
                    default => $route->match($request, true),
                };
                if ($found === false) {
                    return false;
                }
                $matched = $route->getMatchedPath();
                $rest = $matched === null ? $rest : substr($rest, strlen($matched));
                $values = $found + $values;
            }
            return $rest === '' ? On::found($values) : false;
        } finally {
            $request->setPathInfo($raw);
        }
    }
}
