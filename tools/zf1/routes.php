<?php

// Routes paths and assembles URLs with the routes of ZF1. It reads one job per line (JSON), and writes its outcomes on one line.
//
//   ZF1=<the folder that contains Zend/> php routes.php
//
// A job has routes, a request, sets of differences (null for ZF1 without changes), and perhaps a URL to assemble.

error_reporting(0);
ini_set('display_errors', '0');

$library = require __DIR__ . '/library.php';
if (!class_exists('Zend_Controller_Router_Route_Chain')) {
    fwrite(STDERR, "ZF1=\"$library\" lacks the routes: set ZF1 to the folder that contains Zend/\n");
    exit(2);
}
const ACTIONS = ['full' => ['head', 'options']];
const MODULES = ['default', 'admin', 'api'];
require __DIR__ . '/route-model.php';
if (class_exists('Zend_Rest_Route')) {
    require __DIR__ . '/rest-model.php';
}
fwrite(STDOUT, json_encode(class_exists('Zend_Rest_Route')) . "\n");

/** Creates the routes of ZF1 for the plain objects of Portico. */
final class Routes
{
    private array $links = [];

    public function __construct(private array $patterns, private bool $isModel, private Zend_Controller_Front $front)
    {
    }

    public function addTo(Zend_Controller_Router_Rewrite $router): void
    {
        foreach ($this->patterns as [$name, $pattern]) {
            $router->addRoute($name, $this->create($name));
        }
    }

    private function create(string $name): Zend_Controller_Router_Route_Abstract
    {
        $links = $this->linksOf($name);
        $foreign = [];
        foreach ($links as [$route]) {
            if (property_exists($route, 'foreign')) {
                $route->foreign += $foreign;
            }
            $foreign += array_flip(method_exists($route, 'getVariables') ? $route->getVariables() : []);
            // Without a map, the groups of a regex have numbers.
            $foreign += $route instanceof ModelRegex ? array_flip($route->groups()) : [];
            $foreign += array_filter($route->getDefaults(), fn ($value) => $value !== null);
        }
        if (count($links) === 1) {
            $only = $links[0][0];
        } else {
            $only = $this->isModel ? new ModelChain() : new Zend_Controller_Router_Route_Chain();
            foreach ($links as [$route, $separator]) {
                $only->chain($route, $separator);
            }
        }
        // Abstract routes are not in the router: isAbstract() of a shared route would hide its children.
        return $only;
    }

    // The routes of a chain with their separators. A parent is one object in all its chains.
    private function linksOf(string $name): array
    {
        $pattern = $this->pattern($name);
        $own = $this->links[$name] ??= $this->createOwn($pattern);
        return isset($pattern['under']) ? [...$this->linksOf($pattern['under']), ...$own] : $own;
    }

    private function pattern(string $name): array
    {
        foreach ($this->patterns as [$each, $pattern]) {
            if ($each === $name) {
                return $pattern;
            }
        }
        throw new Exception("no route $name");
    }

    private function createOwn(array $pattern): array
    {
        $defaults = $pattern['defaults'] ?? [];
        $requirements = $pattern['requirements'] ?? [];
        $routes = [];
        $separator = $pattern['separator'] ?? '/';
        if (isset($pattern['host'])) {
            preg_match_all('/:([\w-]+)/', $pattern['host'], $found);
            $isOnly = !isset($pattern['path']) && !isset($pattern['regex']) && !isset($pattern['rest']);
            $own = $isOnly ? $defaults : array_intersect_key($defaults, array_flip($found[1]));
            $defaults = array_diff_key($defaults, $own);
            $class = $this->isModel ? ModelHostname::class : Zend_Controller_Router_Route_Hostname::class;
            $routes[] = [new $class($pattern['host'], $own, $requirements, $pattern['scheme'] ?? null), $separator];
            $separator = '/';
        }
        if (isset($pattern['path'])) {
            // Only Route_Static matches a part of a segment.
            $real = $pattern['static'] ?? false ? Zend_Controller_Router_Route_Static::class : Zend_Controller_Router_Route::class;
            $class = $this->isModel ? ($pattern['static'] ?? false ? ModelStatic::class : ModelRoute::class) : $real;
            $routes[] = [new $class($pattern['path'], $defaults, $requirements), $separator];
        } elseif (isset($pattern['regex'])) {
            $class = $this->isModel ? ModelRegex::class : Zend_Controller_Router_Route_Regex::class;
            $routes[] = [new $class($pattern['regex'], $defaults, $pattern['map'] ?? [], $pattern['reverse'] ?? null), $separator];
        } elseif (isset($pattern['rest'])) {
            $class = $this->isModel ? ModelRest::class : Zend_Rest_Route::class;
            $routes[] = [new $class($this->front, $defaults, $pattern['rest'] === true ? [] : $pattern['rest']), $separator];
        }
        return $routes;
    }
}

function run(array $job, bool $isModel): array
{
    [$path, $search] = explode('?', $job['request']['target'], 2) + [1 => ''];
    parse_str($search, $_GET);
    $_POST = [];
    $_SERVER = [
        'REQUEST_METHOD' => $job['request']['method'],
        'REQUEST_URI' => $job['request']['target'],
        'SCRIPT_NAME' => '/index.php',
        'SCRIPT_FILENAME' => '/var/www/public/index.php',
        'HTTP_HOST' => $job['request']['host'],
    ] + ($job['request']['scheme'] === 'https' ? ['HTTPS' => 'on'] : []) + ($job['request']['override'] ? ['HTTP_X_HTTP_METHOD_OVERRIDE' => $job['request']['override']] : []);
    $front = Zend_Controller_Front::getInstance();
    $front->resetInstance();
    if ($isModel) {
        $front->setDispatcher(new ModelDispatcher());
    }
    foreach (MODULES as $module) {
        $front->addControllerDirectory("/nowhere/$module", $module);
    }
    $front->setBaseUrl('');
    $request = new Zend_Controller_Request_Http();
    $request->setPathInfo($path);
    $front->setRequest($request);
    $router = $front->getRouter();
    if ($isModel) {
        $router->addRoute('default', new ModelModule([], $front->getDispatcher(), $request));
    }
    (new Routes($job['routes'], $isModel, $front))->addTo($router);
    foreach ($job['routes'] as [$name, $pattern]) {
        if ($pattern['abstract'] ?? false) {
            $abstract[$name] = $router->getRoute($name);
            $router->removeRoute($name);
        }
    }
    $outcome = [];
    try {
        $router->route($request);
        $names = ['module' => 'default', 'controller' => 'index', 'action' => 'index'];
        $params = $request->getUserParams();
        foreach ($names as $key => $default) {
            $names[$key] = (string) ($params[$key] ?? '') === '' ? $default : $params[$key];
        }
        $values = [];
        foreach (array_diff_key($params, $names) as $key => $value) {
            if ($value !== null) {
                $values[] = [(string) $key, is_array($value) ? array_map('strval', array_values(array_filter($value, fn ($each) => $each !== null))) : [(string) $value]];
            }
        }
        $outcome = ['route' => $router->getCurrentRouteName()] + $names + ['params' => $values];
    } catch (Throwable $thrown) {
        $outcome = ['error' => get_class($thrown)];
    }
    if (isset($job['url'])) {
        foreach ($abstract ?? [] as $name => $route) {
            $router->addRoute($name, $route);
        }
        try {
            $outcome['url'] = $router->assemble($job['url']['params'], $job['url']['name'], $job['url']['reset'], true);
        } catch (Throwable $thrown) {
            $outcome['urlError'] = $thrown->getMessage();
        }
    }
    return $outcome;
}

while (($line = fgets(STDIN)) !== false) {
    set_time_limit(30);
    $job = json_decode($line, true);
    $outcomes = [];
    foreach ($job['sets'] as $set) {
        On::$ids = array_flip($set ?? []);
        $outcomes[] = run($job, $set !== null);
    }
    fwrite(STDOUT, json_encode($outcomes, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
}
