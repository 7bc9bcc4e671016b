<?php

// Runs requests in ZF1. It reads one job per line (JSON) and writes the list of outcomes of each job on one line.
//
//   ZF1=<the folder that contains Zend/> php run.php <modules as JSON> <an empty folder for their controllers>
//
// A job has a request and a list of sets of differences. A set that is null means ZF1 without changes.

error_reporting(0);
ini_set('display_errors', '0');
ini_set('max_input_vars', '1000');

$library = require __DIR__ . '/library.php';
foreach (['Front', 'Action', 'Request_Http', 'Router_Route_Module', 'Plugin_ErrorHandler'] as $name) {
    if (!class_exists("Zend_Controller_$name")) {
        fwrite(STDERR, "ZF1=\"$library\" lacks the class Zend_Controller_$name: set ZF1 to the folder that contains Zend/\n");
        exit(2);
    }
}
require __DIR__ . '/application.php';
require __DIR__ . '/model.php';

$modules = json_decode($argv[1], true);
writeControllers($modules, $argv[2]);
while (($line = fgets(STDIN)) !== false) {
    // The parent process may have died, so a job must not run for ever.
    set_time_limit(30);
    $job = json_decode($line, true);
    $outcomes = [];
    foreach ($job['sets'] as $set) {
        $application = $set === null
            ? new Application($modules, $argv[2])
            : new Model($modules, $argv[2], new Differences($set['ids'], $set['names'], $job['search'], $job['form']));
        $outcomes[] = $application->run($job['request']);
    }
    // Unlike echo, this does not count as sent headers.
    fwrite(STDOUT, json_encode($outcomes, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE) . "\n");
}
